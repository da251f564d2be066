//! Text of agents and models for display: long text is cut, and characters that change how the text
//! around them reads are made visible.

use std::fmt::Write;

/// `text` with every control character and every character that turns the direction of writing
/// shown as `⟨U+202E⟩`. Line ends and tabs stay.
pub(in crate::pages) fn plain(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if is_hidden(character) {
            let _ = write!(shown, "⟨U+{:04X}⟩", u32::from(character));
        } else {
            shown.push(character);
        }
    }
    shown
}

/// The first `limit` characters, with `…` if there are more.
pub(in crate::pages) fn cut(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((end, _)) => format!("{}…", plain(&text[..end])),
        None => plain(text),
    }
}

fn is_hidden(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        // A line end of Windows shows as its line feed.
        '\r' => true,
        '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{61c}' | '\u{feff}' => true,
        '\u{2028}' | '\u{2029}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' => true,
        other => other.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_shown() {
        for (text, expected) in [
            ("plain text\n\tΩ 漢字 🦀", "plain text\n\tΩ 漢字 🦀"),
            ("gpt\u{202e}4o", "gpt⟨U+202E⟩4o"),
            ("a\u{0}b\u{1b}[31m", "a⟨U+0000⟩b⟨U+001B⟩[31m"),
            ("zero\u{200b}width", "zero⟨U+200B⟩width"),
        ] {
            assert_eq!(plain(text), expected);
        }
    }

    #[test]
    fn long_text_is_cut_between_characters() {
        assert_eq!(cut("äöü", 3), "äöü");
        assert_eq!(cut("äöüß", 3), "äöü…");
        assert_eq!(cut(&"x".repeat(1 << 20), 10).chars().count(), 11);
    }
}
