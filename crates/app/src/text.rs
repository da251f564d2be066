//! Makes text from agents and models safe for a terminal: removes the characters that a terminal
//! interprets.

use model::Timestamp;

/// `text` on one line, without control characters, escapes and bidirectional marks.
pub(crate) fn printable(text: &str) -> String {
    let shown = |c: char| match c {
        '\n' | '\r' | '\t' => Some(' '),
        c if is_dangerous(c) => None,
        c => Some(c),
    };
    text.chars().filter_map(shown).collect()
}

/// At most `limit` characters of [`printable`] text.
pub(crate) fn shortened(text: &str, limit: usize) -> String {
    let text = printable(text);
    match text.char_indices().nth(limit) {
        Some(_) => text.chars().take(limit.saturating_sub(1)).chain(['…']).collect(),
        None => text,
    }
}

/// JSON with dangerous characters escaped: they only occur inside strings, so it means the same.
pub(crate) fn printable_json(json: &str) -> String {
    let mut printed = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '\n' | '\r' | '\t' => printed.push(c),
            c if is_dangerous(c) => printed.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => printed.push(c),
        }
    }
    printed
}

/// Quotes `text` as one word for a shell.
pub(crate) fn shell_word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:@".contains(c);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

/// C0 and C1 controls, DEL, and all characters that change the direction of text or are invisible.
fn is_dangerous(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{061c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// Parses a time in RFC 3339, or a day such as 2026-12-24, which means its end in UTC.
pub(crate) fn end_of_day(when: &str) -> Option<Timestamp> {
    const DAY_MS: i64 = 24 * 60 * 60 * 1000;
    let day = Timestamp::parse(&format!("{when}T00:00:00Z"));
    let end = day.map(|begin| Timestamp::from_millis(begin.as_millis() + DAY_MS));
    end.or_else(|| Timestamp::parse(when))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printable_text_has_no_control_characters() {
        let check = |text: &str, expected: &str| assert_eq!(printable(text), expected, "{text:?}");
        check("plain, ünïcode, 日本語, 🦀", "plain, ünïcode, 日本語, 🦀");
        check("two\nlines\tand\rmore", "two lines and more");
        check("\u{1b}[31mred\u{1b}[0m", "[31mred[0m");
        check("\u{1b}]0;title\u{7}", "]0;title");
        check("\u{9b}31m\u{7f}\u{0}", "31m");
        check("user\u{202e}gnp.exe\u{2066}", "usergnp.exe");
        check("zero\u{200b}width\u{feff}", "zerowidth");
    }

    #[test]
    fn long_text_is_cut_between_characters() {
        assert_eq!(shortened("日本語", 3), "日本語");
        assert_eq!(shortened("日本語です", 3), "日本…");
    }

    #[test]
    fn json_means_the_same_and_is_harmless() {
        let json = "{\n\t\"a\": \"x\u{9b}\u{202e}ü\"}";
        let printed = printable_json(json);
        assert_eq!(printed, "{\n\t\"a\": \"x\\u009b\\u202eü\"}");
        let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
        assert_eq!(read(&printed), read(json));
    }
}
