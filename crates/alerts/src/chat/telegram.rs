//! Telegram bots: `sendMessage` with HTML of at most 4096 UTF-16 units, `& < >` escaped. The bot's
//! token is part of the path.

use std::time::Duration;

use egress::Post;
use model::Target;
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};

use super::{cut, details, fitting, json_post};
use crate::message::Message;

/// Telegram counts UTF-16 units after it has parsed the markup. Half of its limit leaves enough for
/// characters of two units.
const MAX_TEXT: usize = 2000;

/// The request that posts `message` to a chat through the Bot API server at `server`.
pub(crate) fn post(server: &Target, bot_token: &SecretString, chat_id: &str, message: &Message) -> Post {
    let title = format!("<b>{}</b>", escaped(&cut(&message.title(), 300)));
    let (lines, more) = details(
        message,
        |name, value| format!("{name}: <code>{}</code>", escaped(value)),
        |line| format!("• {}", escaped(line)),
    );
    let link = format!("<a href=\"{}\">Open in AgentGazer</a>", escaped(&message.link()));
    let text = [title, fitting(lines, MAX_TEXT, more), link].join("\n");
    let body = json!({
        "chat_id": chat_id, "text": text, "parse_mode": "HTML", "link_preview_options": {"is_disabled": true},
    });
    json_post(server.join(&format!("/bot{}/sendMessage", bot_token.expose_secret())), &body)
}

/// Whether Telegram accepted the message.
pub(crate) fn is_ok(body: &[u8]) -> bool {
    serde_json::from_slice::<Value>(body).is_ok_and(|body| body["ok"] == true)
}

/// How long Telegram asks to wait, from the body of a 429.
pub(crate) fn retry_after(body: &[u8]) -> Option<Duration> {
    let body: Value = serde_json::from_slice(body).ok()?;
    body["parameters"]["retry_after"].as_u64().map(Duration::from_secs)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::message::tests::{digest, killed};
    use model::ChannelSettings;

    fn request(message: &Message) -> (String, Value) {
        let server = Target::parse(ChannelSettings::TELEGRAM).unwrap();
        let post = post(&server, &"123:abc".into(), "-100", message);
        (post.target.path_and_query(), serde_json::from_slice(&post.body).unwrap())
    }

    #[test]
    fn a_name_cannot_become_markup() {
        let (path, body) = request(&killed("<b>x</b> & \"y\""));
        assert_eq!(path, "/bot123:abc/sendMessage");
        assert_eq!((&body["chat_id"], &body["parse_mode"]), (&json!("-100"), &json!("HTML")));
        let text = body["text"].as_str().unwrap();
        assert!(text.contains("&lt;b&gt;x&lt;/b&gt; &amp; &quot;y&quot;"), "{text}");
    }

    #[test]
    fn no_text_is_too_long() {
        for message in [killed(&"😀".repeat(200)), digest(50, &"😀".repeat(300))] {
            let (_, body) = request(&message);
            assert!(body["text"].as_str().unwrap().encode_utf16().count() <= 4096);
        }
    }

    #[test]
    fn answers_of_telegram_are_parsed() {
        assert!(is_ok(br#"{"ok":true,"result":{}}"#) && !is_ok(br#"{"ok":false}"#) && !is_ok(b""));
        assert_eq!(retry_after(br#"{"ok":false,"parameters":{"retry_after":7}}"#), Some(Duration::from_secs(7)));
    }
}
