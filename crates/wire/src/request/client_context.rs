//! Text that clients add to the user's messages: reminders around the user's words (Claude Code,
//! Qwen Code), and a first message that only sets up the context (Gemini CLI, Qwen Code).

use std::borrow::Cow;

use crate::content::Content;
use crate::json::Json;

const OPEN: &str = "<system-reminder>";
const CLOSE: &str = "</system-reminder>";

/// The sentence with which Gemini CLI and its forks introduce date, machine and folders.
const SETUP: &str = "We are setting up the context for our chat.";

/// The number of bytes at the start of a message that are searched for [`SETUP`].
const SETUP_WITHIN: usize = 256;

/// Whether a content only sets up the context. Such a message is not the user's: the client
/// rebuilds it with another date and other folders when the same conversation is resumed.
pub(crate) fn is_setup(content: Json<'_>) -> bool {
    let begin = &content.raw()[..content.raw().floor_char_boundary(SETUP_WITHIN)];
    // A search for its first character comes first: it is fast, and few messages have it.
    let is_there = begin.match_indices('W').any(|(place, _)| begin[place..].starts_with(SETUP));
    is_there && is_alone(content)
}

/// Whether a content is a single text and not a reminder. In newer clients the setup is a reminder
/// before the user's words.
fn is_alone(content: Json<'_>) -> bool {
    let read = Content::read(content);
    matches!(&read.texts[..], [text] if !has_reminder(text)) && read.attachments.is_empty()
}

/// Removes the reminders before and after the user's words. Returns all texts if nothing else is
/// left.
pub(crate) fn users_words(texts: Vec<Cow<'_, str>>) -> Vec<Cow<'_, str>> {
    if !texts.iter().any(|text| has_reminder(text)) {
        return texts;
    }
    let words: Vec<_> = texts.iter().map(|text| without_reminders(text)).collect();
    if words.iter().all(|text| text.is_empty()) {
        return texts;
    }
    let spans: Vec<(usize, usize)> =
        texts.iter().zip(&words).map(|(text, words)| (offset(text, words), words.len())).collect();
    let kept = texts.into_iter().zip(spans).filter(|(_, (_, length))| *length > 0);
    kept.map(|(text, (start, length))| slice(text, start, length)).collect()
}

fn has_reminder(text: &str) -> bool {
    text.trim_start().starts_with(OPEN) || text.trim_end().ends_with(CLOSE)
}

/// Removes the reminders at the start and end of `text`. A text without reminders keeps its white
/// space.
fn without_reminders(text: &str) -> &str {
    let mut words = text;
    while let Some(inside) = words.trim_start().strip_prefix(OPEN) {
        let Some((_, rest)) = inside.split_once(CLOSE) else { break };
        words = rest.trim_start();
    }
    while let Some(inside) = words.trim_end().strip_suffix(CLOSE) {
        let Some((rest, _)) = inside.rsplit_once(OPEN) else { break };
        words = rest.trim_end();
    }
    words
}

/// The offset of `part`, a slice of `text`, in it.
fn offset(text: &str, part: &str) -> usize {
    part.as_ptr().addr() - text.as_ptr().addr()
}

fn slice(text: Cow<'_, str>, start: usize, length: usize) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(&text[start..start + length]),
        Cow::Owned(text) if text.len() == length => Cow::Owned(text),
        Cow::Owned(text) => Cow::Owned(text[start..start + length].to_owned()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;

    fn check(texts: &[&str], expected: &[&str]) {
        let borrowed = texts.iter().map(|text| Cow::Borrowed(*text)).collect();
        assert_eq!(users_words(borrowed), expected);
        let owned = texts.iter().map(|text| Cow::Owned((*text).to_owned())).collect();
        assert_eq!(users_words(owned), expected);
    }

    #[test]
    fn reminders_are_not_the_user_s_words() {
        let reminder = "<system-reminder>\nThe date is 2026-11-18.\n</system-reminder>\n";
        check(&[reminder, reminder, "Say hello"], &["Say hello"]);
        check(&[&format!("{reminder}{reminder} Say hello\n\n{reminder}")], &["Say hello"]);
        check(&["Say hello", reminder], &["Say hello"]);
        check(&[&format!("Say <b>\n{reminder}hello")], &[&format!("Say <b>\n{reminder}hello")]);
        check(&[" Say hello "], &[" Say hello "]);
    }

    #[test]
    fn a_message_of_reminders_alone_stays() {
        let reminder = "<system-reminder>Go on.</system-reminder>";
        check(&[reminder], &[reminder]);
        check(&[reminder, reminder], &[reminder, reminder]);
        check(&[], &[]);
    }

    #[test]
    fn a_reminder_without_an_end_is_text() {
        check(&["<system-reminder> what is that?"], &["<system-reminder> what is that?"]);
        check(&["</system-reminder>"], &["</system-reminder>"]);
        check(&["a</system-reminder>", "b"], &["a</system-reminder>", "b"]);
    }

    #[test]
    fn context_setup_is_recognised_by_its_beginning() {
        let check =
            |content: &str, expected| assert_eq!(is_setup(Json::parse(content).unwrap()), expected, "{content}");
        check(r#""This is the Qwen Code. We are setting up the context for our chat.\nToday's date is …""#, true);
        check(r#"[{"text":"This is the Gemini CLI. We are setting up the context for our chat."}]"#, true);
        check(&format!("\"{}{SETUP}\"", "é".repeat(200)), false);
        check(r#""Say hello""#, false);
        // The setup as a reminder before the user's words.
        let reminder = format!("<system-reminder>{SETUP}</system-reminder>");
        check(&format!(r#"[{{"text":"{reminder}"}},{{"text":"Say hello"}}]"#), false);
        check(&format!(r#"[{{"text":"{SETUP}"}},{{"text":"Say hello"}}]"#), false);
        check(&format!(r#""{reminder} Say hello""#), false);
    }
}
