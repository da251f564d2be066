//! Chats: messages for Slack, Discord and Telegram within their documented limits and with their
//! escaping. Clients choose the names of models, which must not become markup, mentions or links.

mod discord;
mod slack;
mod telegram;

use bytes::Bytes;
use egress::Post;
use http::{HeaderMap, HeaderValue, header};
use model::Target;
use serde_json::Value;

use crate::message::Message;

pub(crate) use discord::{post as discord, retry_after as discord_retry_after};
pub(crate) use slack::post as slack;
pub(crate) use telegram::{is_ok as telegram_is_ok, post as telegram, retry_after as telegram_retry_after};

fn json_post(target: Target, body: &Value) -> Post {
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Post { target, headers, body: Bytes::from(body.to_string()) }
}

/// `text`, cut to `limit` characters.
fn cut(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        return text.to_owned();
    }
    text.chars().take(limit.saturating_sub(1)).chain(['…']).collect()
}

/// As many of `lines` as fit into `limit` characters, and the number of the others. Lines are never
/// cut, because half an escape sequence would mean something else.
fn fitting(lines: Vec<String>, limit: usize, more: u64) -> String {
    /// Reserved for the last line.
    const LAST: usize = 40;
    let (mut text, mut left) = (String::new(), lines.len() as u64 + more);
    let mut length = 0;
    for line in lines {
        let needed = line.chars().count() + 1;
        if length + needed + LAST > limit {
            break;
        }
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&line);
        length += needed;
        left -= 1;
    }
    if left > 0 {
        text.push_str(&format!("\n… and {left} more"));
    }
    text
}

/// The lines below the title: the facts, or the alerts of a digest.
fn details(
    message: &Message,
    fact: impl Fn(&str, &str) -> String,
    line: impl Fn(&str) -> String,
) -> (Vec<String>, u64) {
    let (lines, more) = message.lines();
    let facts = message.facts();
    let facts = facts.iter().map(|(name, value)| fact(name, value));
    (facts.chain(lines.iter().map(|text| line(text))).collect(), more)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_do_not_fit_are_counted() {
        let lines: Vec<String> = (0..10).map(|line| format!("line {line}")).collect();
        assert_eq!(fitting(lines.clone(), 1000, 0).lines().count(), 10);
        assert_eq!(fitting(lines.clone(), 1000, 5).lines().last(), Some("… and 5 more"));
        let short = fitting(lines, 60, 5);
        assert_eq!(short, "line 0\nline 1\n… and 13 more");
        assert_eq!(cut("abcdef", 4), "abc…");
    }
}
