//! Discord webhooks: one embed (title 256, description 4096 characters), Markdown escaped, mentions
//! disabled.

use std::time::Duration;

use egress::Post;
use model::Target;
use serde_json::{Value, json};

use super::{cut, details, fitting, json_post};
use crate::message::Message;

const MAX_TITLE: usize = 256;
const MAX_DESCRIPTION: usize = 4096;
const RED: u32 = 0x00D1_3438;
const GREEN: u32 = 0x0010_7C10;

/// The request that posts `message`.
pub(crate) fn post(target: Target, message: &Message) -> Post {
    let (lines, more) = details(
        message,
        |name, value| format!("**{name}:** {}", escaped(value)),
        |line| format!("• {}", escaped(line)),
    );
    let embed = json!({
        "title": cut(&message.title(), MAX_TITLE),
        "description": fitting(lines, MAX_DESCRIPTION, more),
        "url": message.link(),
        "color": if message.is_bad() { RED } else { GREEN },
        "timestamp": message.at,
    });
    json_post(target, &json!({"embeds": [embed], "allowed_mentions": {"parse": []}}))
}

/// How long Discord asks to wait, from the body of a 429.
pub(crate) fn retry_after(body: &[u8]) -> Option<Duration> {
    let body: Value = serde_json::from_slice(body).ok()?;
    Duration::try_from_secs_f64(body["retry_after"].as_f64()?).ok()
}

/// Escapes every character that Markdown interprets.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if "\\*_~`|>#-[]()<:@".contains(c) {
            escaped.push('\\');
        }
        escaped.push(if c.is_control() { ' ' } else { c });
    }
    escaped
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::message::tests::{digest, killed};

    fn embed(message: &Message) -> Value {
        let target = Target::parse("https://discord.com/api/webhooks/1/x").unwrap();
        let body: Value = serde_json::from_slice(&post(target, message).body).unwrap();
        assert_eq!(body["allowed_mentions"], json!({"parse": []}));
        body["embeds"][0].clone()
    }

    #[test]
    fn a_name_cannot_become_markup() {
        let description = embed(&killed("**x** [a](https://evil.test) @everyone"))["description"].to_string();
        assert!(description.contains(r"\\*\\*x\\*\\* \\[a\\]\\(https\\://evil.test\\) \\@everyone"), "{description}");
    }

    #[test]
    fn no_part_is_too_long() {
        for message in [killed(&"*".repeat(200)), digest(50, &"_".repeat(300))] {
            let embed = embed(&message);
            let length = |field: &str| embed[field].as_str().unwrap().chars().count();
            assert!(length("title") <= MAX_TITLE && (1..=MAX_DESCRIPTION).contains(&length("description")));
        }
    }

    #[test]
    fn a_pause_is_asked_for_in_the_body() {
        assert_eq!(retry_after(br#"{"message":"slow","retry_after":0.5}"#), Some(Duration::from_millis(500)));
        assert_eq!(retry_after(b"<html>"), None);
        assert_eq!(retry_after(br#"{"retry_after":-1}"#), None);
    }
}
