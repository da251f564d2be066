//! The first words of a conversation, read from the cached body of one of its calls.

use model::CallId;
use wire::Dialect;

use super::cache::EvidenceCache;

/// The most characters to return.
const MAX_CHARACTERS: usize = 80;
/// Longer bodies are not read, because a page waits for the result.
const MAX_BODY: usize = 4 << 20;

impl EvidenceCache {
    /// The first words of the conversation that a cached call belongs to; `None` if the call is no
    /// longer cached, or carries only what is new in its conversation. Decompresses the body: call
    /// it on a thread that may block.
    pub(crate) fn opening_words(&self, call: CallId) -> Option<String> {
        let kept = self.get(call)?;
        if kept.length() > MAX_BODY {
            return None;
        }
        opening_words(kept.dialect, &kept.request.read()?)
    }
}

fn opening_words(dialect: Dialect, body: &[u8]) -> Option<String> {
    let asked = wire::read_request(dialect, body).ok().filter(|asked| asked.continues.is_none())?;
    // Clients put reminders and context in tags before the user's text.
    let opening = asked.opening();
    let written = opening.iter().find(|piece| !piece.trim_start().starts_with('<')).or(opening.first())?;
    let mut words = String::new();
    for word in written.split_whitespace() {
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(word);
        if let Some((end, _)) = words.char_indices().nth(MAX_CHARACTERS) {
            words.truncate(end);
            words.push('…');
            break;
        }
    }
    Some(words).filter(|words| !words.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(messages: serde_json::Value, expected: Option<&str>) {
        let body = serde_json::json!({"model": "gpt-4o", "messages": messages}).to_string();
        assert_eq!(opening_words(Dialect::ChatCompletions, body.as_bytes()).as_deref(), expected);
    }

    #[test]
    fn first_words_are_those_of_the_first_message_of_the_user() {
        use serde_json::json;
        let first = json!({"role": "user", "content": "Tidy up\n\n  the source   folder."});
        let later = json!({"role": "user", "content": "And now the tests."});
        let answer = json!({"role": "assistant", "content": "Done."});
        check(
            json!([{"role": "system", "content": "Be brief."}, first, answer, later]),
            Some("Tidy up the source folder."),
        );
        let reminder = json!([{"type": "text", "text": "<system-reminder>x</system-reminder>"},
            {"type": "text", "text": "Fix the import."}]);
        check(json!([{"role": "user", "content": reminder}]), Some("Fix the import."));
        check(json!([{"role": "user", "content": "   "}]), None);
        let long = "word ".repeat(100);
        let expected = format!("{}…", &long[..MAX_CHARACTERS]);
        check(json!([{"role": "user", "content": long}]), Some(&expected));
    }
}
