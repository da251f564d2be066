//! Slack incoming webhooks: blocks of `mrkdwn`, at most 3000 characters each, `& < >` escaped.

use egress::Post;
use model::Target;
use serde_json::json;

use super::{cut, details, fitting, json_post};
use crate::message::Message;

const MAX_SECTION: usize = 3000;

/// The request that posts `message`.
pub(crate) fn post(target: Target, message: &Message) -> Post {
    let title = escaped(&cut(&message.title(), 500));
    let (lines, more) =
        details(message, |name, value| format!("*{name}:* {}", escaped(value)), |line| format!("• {}", escaped(line)));
    let link = format!("<{}|Open in AgentGazer>", escaped(&message.link()));
    let section = |text: String| json!({"type": "section", "text": {"type": "mrkdwn", "text": text}});
    let mut blocks = vec![section(format!("*{title}*"))];
    if !lines.is_empty() {
        blocks.push(section(fitting(lines, MAX_SECTION, more)));
    }
    blocks.push(section(link));
    json_post(target, &json!({"text": title, "blocks": blocks}))
}

/// Escapes the characters that Slack requires.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::message::tests::{digest, killed};
    use serde_json::Value;

    fn body(message: &Message) -> Value {
        let target = Target::parse("https://hooks.slack.com/services/T/B/x").unwrap();
        serde_json::from_slice(&post(target, message).body).unwrap()
    }

    #[test]
    fn name_cannot_mention_a_channel_or_become_a_link() {
        let text = body(&killed("<!channel> <https://evil.test|click> &")).to_string();
        assert!(text.contains("&lt;!channel&gt; &lt;https://evil.test|click&gt; &amp;"), "{text}");
        assert!(!text.contains("<!channel>"));
    }

    #[test]
    fn no_block_is_too_long() {
        for message in [killed(&"&".repeat(200)), digest(50, &"<".repeat(300))] {
            for block in body(&message)["blocks"].as_array().unwrap() {
                let text = block["text"]["text"].as_str().unwrap();
                assert!((1..=MAX_SECTION).contains(&text.chars().count()), "{}", text.len());
            }
        }
        assert!(body(&digest(50, &"<".repeat(300))).to_string().contains("… and "));
    }
}
