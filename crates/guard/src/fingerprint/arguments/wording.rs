//! The words of texts in arguments: an agent that repeats a search changes its wording, but mostly
//! uses the same words. Paths, ids and switches do not count. Neither do commands and code, in
//! which the meaning of a word depends on its position.

use model::WordSet;

use super::targets::{Token, Tokens, is_target};
use crate::fingerprint::digest::fold;

/// Arguments that hold a command or a program.
const CODE: [&str; 7] = ["command", "cmd", "script", "code", "commands", "sql", "pattern"];
/// A longer text is content, not a wording.
const LONGEST: usize = 512;
/// Shorter words are articles and the like.
const SHORTEST_WORD: usize = 3;

/// Words that share so many first letters are forms of one word.
const STEM: usize = 6;

/// The words of the texts in `canonical` JSON, or all words of a text that is not JSON. Empty if
/// there is a command: the texts next to it only describe it.
pub(crate) fn wording(canonical: &str) -> WordSet {
    let mut words = WordSet::default();
    for token in Tokens(canonical) {
        match token {
            Token::Key(key) if CODE.contains(&key.trim_matches('"')) => return WordSet::default(),
            Token::Value(text) if is_text(text) => add_words(text, &mut words),
            Token::Key(_) | Token::Value(_) => {}
        }
    }
    words
}

/// Whether a value has more than one word. In scripts without spaces nearly every value has.
fn is_text(value: &str) -> bool {
    value.len() <= LONGEST && (!is_target(value) || !value.is_ascii())
}

fn add_words(text: &str, words: &mut WordSet) {
    for word in text.split(|character: char| !character.is_alphanumeric()) {
        if word.is_ascii() {
            if word.len() >= SHORTEST_WORD {
                words.add(hash(word.bytes().take(STEM).map(|byte| u64::from(byte.to_ascii_lowercase()))));
            }
            continue;
        }
        add_other_words(word, words);
    }
}

/// A word of another script: the whole word if the script has spaces, else its pairs of characters.
fn add_other_words(word: &str, words: &mut WordSet) {
    let has_spaces =
        word.chars().all(|character| character < '\u{0e00}' || ('\u{ac00}'..='\u{d7af}').contains(&character));
    let letters: Vec<u64> = word.chars().flat_map(char::to_lowercase).map(u64::from).collect();
    if has_spaces {
        words.add(hash(letters.into_iter().take(STEM)));
    } else {
        letters.windows(2).for_each(|pair| words.add(hash(pair.iter().copied())));
    }
}

fn hash(letters: impl Iterator<Item = u64>) -> u64 {
    letters.fold(1, fold)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_compared_by_their_words() {
        let check = |one: &str, other: &str, expected: bool| {
            assert_eq!(wording(one).is_reworded(wording(other)), expected, "{one} {other}");
        };
        check(r#"{"query":"notice period employee"}"#, r#"{"query":"employee termination notice"}"#, true);
        check(r#"{"query":"akt urodzenia Jana"}"#, r#"{"query":"wpis urodzenia JANA 1887"}"#, true);
        check(r#"{"q":"図書館の開館時間"}"#, r#"{"q":"開館時間 図書館"}"#, true);
        check("bell ship name", "church bell ship", true);
        check(r#"{"query":"notice period"}"#, r#"{"query":"weather tomorrow"}"#, false);
    }

    #[test]
    fn targets_and_code_have_no_wording() {
        for none in [
            r#"{"path":"src/main.rs","limit":20}"#,
            r#"{"command":"grep -rn foo src"}"#,
            r#"{"command":"git bisect good","description":"Mark the commit as good"}"#,
            r#"{"sql":"select 1 from t"}"#,
            r#"{"id":"T-4411","deep":true}"#,
            "{}",
            "",
        ] {
            assert_eq!(wording(none), WordSet::default(), "{none}");
        }
    }
}
