//! Answers that are a JSON object with an action in it, as browser and terminal agents write them.
//! What is thought beside the action is worded anew every time and says nothing about it.

use serde_json::{Map, Value};

/// A longer answer is content, not an action.
const LONGEST: usize = 8 * 1024;

/// Fields that make an object an action.
const ACTS: [&str; 6] = ["action", "actions", "next_action", "action_type", "commands", "tool"];

/// Parts of the names of fields in which models think.
const THINKS: [&str; 16] = [
    "thought",
    "think",
    "reason",
    "rationale",
    "analysis",
    "plan",
    "explanation",
    "evaluation",
    "memory",
    "goal",
    "state",
    "summary",
    "reflection",
    "observation",
    "comment",
    "note",
];

/// The action in an answer, without the thoughts; `None` if the answer is no such object.
pub(super) fn action_in(text: &str) -> Option<String> {
    let object = object_of(text)?;
    // Parsed last: nearly every answer is prose.
    let Value::Object(mut fields) = serde_json::from_str(object).ok()? else { return None };
    if !ACTS.iter().any(|name| fields.contains_key(*name)) {
        return None;
    }
    drop_thoughts(&mut fields);
    Some(Value::Object(fields).to_string())
}

/// The object that the answer consists of, bare or in a fenced block.
fn object_of(text: &str) -> Option<&str> {
    let text = text.trim();
    if text.len() > LONGEST {
        return None;
    }
    let fenced = || {
        // One character is soon found, and most answers have none.
        let first = text.find('`')?;
        let body = text[first..].split_once("```")?.1.split_once('\n')?.1;
        Some(body.split("```").next().unwrap_or(body).trim())
    };
    let is_object = |text: &&str| text.starts_with('{') && text.ends_with('}');
    Some(text).filter(is_object).or_else(|| fenced().filter(is_object))
}

fn drop_thoughts(fields: &mut Map<String, Value>) {
    fields.retain(|key, _| {
        let key = key.to_ascii_lowercase();
        !THINKS.iter().any(|word| key.contains(word))
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_action_is_what_is_left_without_thoughts() {
        let expected = r#"{"action":"click","index":5}"#;
        for text in [
            r#"{"thought": "so", "action": "click", "index": 5}"#,
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
