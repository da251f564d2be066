//! The message of a provider's error, as it is recorded: short, on one line, without keys.

use crate::json::Json;

/// Characters of an error that are recorded, besides the mark of a cut.
const LENGTH: usize = 299;
/// Replaces what may be a key.
const HIDDEN: &str = "***";
/// A run of letters and digits as long as this is a key or an id, not a word or a model's name.
const KEY_RUN: usize = 16;
/// How the keys of providers, bearer tokens and our own keys begin.
const KEY_PREFIXES: [&str; 12] =
    ["sk-", "sk_", "gsk_", "xai-", "AIza", "eyJ", "hf_", "fw_", "r8_", "pplx-", "agk_", "agz_"];

/// The message in the JSON of a failed answer, which may be cut off. `None` if there is none: only
/// texts in the places where providers write messages are read, because other parts may repeat the
/// request.
pub fn error_message(body: &[u8]) -> Option<String> {
    let text = match std::str::from_utf8(body) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&body[..error.valid_up_to()]).ok()?,
    };
    let text = text.trim_ascii_start();
    // Gemini wraps the error of a stream in an array.
    let object = text.strip_prefix('[').unwrap_or(text);
    let (mut error, mut message) = (None, None);
    // Fields before the cut are visited although the text as a whole is invalid.
    let _ = Json::parse_fields(object, |name, value| match name.to_ascii_lowercase().as_str() {
        "error" => error = value.field("message").and_then(Json::filled_text).or_else(|| value.filled_text()),
        "message" | "detail" => message = value.filled_text().or(message.take()),
        _ => {}
    });
    error.or(message).map(|text| error_excerpt(&text)).filter(|text| !text.is_empty())
}

/// The beginning of an error's text on one line, without what may be a key.
pub fn error_excerpt(text: &str) -> String {
    let words: Vec<String> = text.split(|it: char| it.is_whitespace() || it.is_control()).map(hide_keys).collect();
    let line = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LENGTH) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// A word in which every part that may be a key is hidden.
fn hide_keys(word: &str) -> String {
    let mut shown = String::with_capacity(word.len());
    for part in word.split_inclusive(|it| !is_key_character(it)) {
        // A dot at its end belongs to the sentence.
        let key = part.trim_end_matches(|it| !is_key_character(it) || it == '.');
        if may_be_key(key) {
            shown.push_str(HIDDEN);
            shown.push_str(&part[key.len()..]);
        } else {
            shown.push_str(part);
        }
    }
    shown
}

/// Whether a character may be part of a key, or of one that the provider has masked.
fn is_key_character(it: char) -> bool {
    it.is_ascii_alphanumeric() || "-_.+/*".contains(it)
}

fn may_be_key(part: &str) -> bool {
    let begins_like_one = KEY_PREFIXES.iter().any(|prefix| part.len() > prefix.len() + 4 && part.starts_with(prefix));
    let is_random = |run: &str| {
        let has = |kind: fn(&u8) -> bool| run.as_bytes().iter().any(kind);
        run.len() >= KEY_RUN && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic)
    };
    begins_like_one || part.split(|it: char| !it.is_ascii_alphanumeric()).any(is_random)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_is_found_in_the_errors_of_all_providers() {
        let check = |body: &str, expected: Option<&str>| {
            assert_eq!(error_message(body.as_bytes()).as_deref(), expected, "{body}");
        };
        check(r#"{"error":{"message":"Rate limit reached","type":"tokens","code":null}}"#, Some("Rate limit reached"));
        check(r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#, Some("Overloaded"));
        check(r#"[{"error":{"code":400,"message":"API key not valid.","status":"X"}}]"#, Some("API key not valid."));
        check(r#"{"error":"model 'llama9' not found"}"#, Some("model 'llama9' not found"));
        check(r#" {"message":"The security token is invalid."}"#, Some("The security token is invalid."));
        check(r#"{"Message":"Too many requests"}"#, Some("Too many requests"));
        check(r#"{"detail":"Not Found"}"#, Some("Not Found"));
        check(r#"{"error":{"message":"cut in a later field"},"request":"as lo"#, Some("cut in a later field"));
        for nothing in [
            "",
            "<html>502</html>",
            "{}",
            r#"{"error":null}"#,
            r#"{"error":{"message":"#,
            r#"{"error":{"message":""}}"#,
        ] {
            check(nothing, None);
        }
        // Such a field repeats what was asked.
        check(r#"{"detail":[{"loc":["body"],"input":{"messages":[{"content":"a secret plan"}]}}]}"#, None);
        assert_eq!(error_message(b"{\"error\":\"whole\",\"cut\":\"gr\xc3"), Some("whole".to_owned()));
    }

    #[test]
    fn excerpt_is_one_short_line_without_keys() {
        let check = |text: &str, expected: &str| assert_eq!(error_excerpt(text), expected, "{text}");
        check("Slow\n  down,\u{0} please. ", "Slow down, please.");
        check(
            "Incorrect API key provided: sk-proj-Ab-Cd_Ef. See https://platform.openai.com/account/api-keys.",
            "Incorrect API key provided: ***. See https://platform.openai.com/account/api-keys.",
        );
        check("invalid key \"0f47ac10b58cc4372a5670e02b2c3d479\" (401)", "invalid key \"***\" (401)");
        check("Bearer eyJhbGciOi.eyJzdWIi.sig-na_ture", "Bearer ***");
        check("Get https://x.example/v1?key=AIzaSy-0123 failed", "Get https://x.example/v1?key=*** failed");
        for plain in [
            "model: claude-sonnet-4-5-20250929 is not available in eu-central-1",
            "Limit 30000, Used 29854, Requested 1200. Please try again in 2.1s.",
            "maximum context length is 128000 tokens (messages.12.content)",
        ] {
            check(plain, plain);
        }
        assert_eq!(error_excerpt(&"ä ".repeat(400)).chars().count(), LENGTH + 1);
    }
}
