//! How much of a text from outside becomes part of an event. Events wait in memory while the database cannot be written to,
//! and are counted there, not weighed.

/// As many characters of a model's name are recorded: more than any price or policy names.
const MODEL: usize = 200;
/// As many characters of what went wrong at a provider are.
const ERROR: usize = 1_000;

/// A model's name, as it is recorded.
pub(crate) fn model_name(name: &str) -> String {
    beginning(name, MODEL).to_owned()
}

/// What a provider says went wrong, as it is recorded.
pub(crate) fn error_text(text: &str) -> String {
    beginning(text, ERROR).to_owned()
}

/// At most this many characters, none of them cut in two.
fn beginning(text: &str, characters: usize) -> &str {
    text.char_indices().nth(characters).map_or(text, |(end, _)| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_between_two_characters() {
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
