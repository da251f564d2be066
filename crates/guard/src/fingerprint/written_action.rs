//! Answers that are a JSON object with an action in it, as browser and terminal agents write them.
//! The thoughts next to the action are reworded every time and do not count.

use model::is_thought;
use serde_json::Value;

/// A longer answer is content, not an action.
const LONGEST: usize = 8 * 1024;

/// Fields that make an object an action.
const ACTS: [&str; 6] = ["action", "actions", "next_action", "action_type", "commands", "tool"];

/// The action in an answer, without the thoughts; `None` if the answer is not such an object.
pub(super) fn action_in(text: &str) -> Option<String> {
    let object = object_of(text)?;
    // Parsed last: nearly every answer is prose.
    let Value::Object(mut fields) = serde_json::from_str(object).ok()? else { return None };
    if !ACTS.iter().any(|name| fields.contains_key(*name)) {
        return None;
    }
    fields.retain(|key, _| !is_thought(key));
    Some(Value::Object(fields).to_string())
}

/// The object that the answer consists of, bare or in a fenced block.
fn object_of(text: &str) -> Option<&str> {
    let text = text.trim();
    if text.len() > LONGEST {
        return None;
    }
    let fenced = || {
        // A search for one character is cheap, and most answers do not contain it.
        let first = text.find('`')?;
        let body = text[first..].split_once("```")?.1.split_once('\n')?.1;
        Some(body.split("```").next().unwrap_or(body).trim())
    };
    let is_object = |text: &&str| text.starts_with('{') && text.ends_with('}');
    Some(text).filter(is_object).or_else(|| fenced().filter(is_object))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn action_excludes_thoughts() {
        let expected = r#"{"action":"click","index":5}"#;
        for text in [
            r#"{"thought": "so", "action": "click", "index": 5}"#,
            r#"{"action": "click", "index": 5, "confidence": 0.8, "intent": "to open it"}"#,
            "I go on.\n```json\n{\"reasoning\": \"hm\", \"action\": \"click\", \"index\": 5}\n```",
        ] {
            let found = action_in(text).map(|action| serde_json::from_str::<Value>(&action).ok());
            assert_eq!(found, Some(serde_json::from_str(expected).ok()), "{text}");
        }
        for text in ["", "Hello {you}", r#"{"answer": 1}"#, r#"{"action": "x""#, "[1]"] {
            assert_eq!(action_in(text), None, "{text}");
        }
    }
}
