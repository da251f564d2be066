//! Truncates texts from outside before they become part of an event. Events wait in memory while
//! the database cannot be written, where their number is limited but not their size.

/// Characters of a model's name: more than any price or policy uses.
const MODEL: usize = 200;

/// A model's name as it is recorded.
pub(crate) fn model_name(name: &str) -> String {
    beginning(name, MODEL).to_owned()
}

/// The first `characters` of `text`.
fn beginning(text: &str, characters: usize) -> &str {
    text.char_indices().nth(characters).map_or(text, |(end, _)| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_truncated_between_characters() {
        let check = |text: &str, characters: usize, expected: &str| {
            assert_eq!(beginning(text, characters), expected, "{text}");
        };
        check("gpt-5-mini", 200, "gpt-5-mini");
        check("gpt", 3, "gpt");
        check("gpt-5", 3, "gpt");
        check("größer", 4, "größ");
        check("日本語", 2, "日本");
        check("", 3, "");
    }
}
