//! Messages and items of all forms, as far as they are read.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// A message of Chat Completions or Messages, or an item of Responses.
#[derive(Default, Deserialize)]
pub(super) struct Message<'a> {
    #[serde(borrow, default, rename = "type")]
    pub(super) kind: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) role: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) content: Option<&'a RawValue>,
    #[serde(default)]
    pub(super) tool_calls: Option<Vec<Value>>,
    #[serde(default)]
    pub(super) name: Option<String>,
    #[serde(default)]
    pub(super) arguments: Option<String>,
    #[serde(default)]
    pub(super) input: Option<Value>,
    #[serde(default)]
    pub(super) output: Option<Value>,
}

/// A block of a message.
#[derive(Deserialize)]
pub(super) struct Block {
    #[serde(default, rename = "type")]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) text: Option<String>,
    #[serde(default)]
    pub(super) name: Option<String>,
    #[serde(default)]
    pub(super) input: Option<Value>,
    #[serde(default)]
    pub(super) content: Option<Value>,
    #[serde(default)]
    pub(super) is_error: bool,
}

/// Who a message is by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    User,
    Model,
    Tool,
    System,
}

impl Message<'_> {
    pub(super) fn by(&self) -> By {
        match (self.role.as_deref(), self.kind.as_deref()) {
            (Some("assistant"), _) | (_, Some("function_call" | "custom_tool_call" | "reasoning")) => By::Model,
            (Some("tool" | "function"), _) | (_, Some("function_call_output" | "custom_tool_call_output")) => By::Tool,
            (Some("user"), _) => By::User,
            _ => By::System,
        }
    }

    /// The blocks of the content; a plain string is one block of text.
    pub(super) fn blocks(&self) -> Vec<Block> {
        let Some(content) = self.content else { return Vec::new() };
        if let Ok(text) = serde_json::from_str::<String>(content.get()) {
            return vec![Block {
                kind: "text".to_owned(),
                text: Some(text),
                name: None,
                input: None,
                content: None,
                is_error: false,
            }];
        }
        serde_json::from_str(content.get()).unwrap_or_default()
    }
}

/// The text of some blocks.
pub(super) fn text_of(blocks: &[Block]) -> String {
    blocks.iter().filter_map(|block| block.text.as_deref()).collect::<Vec<_>>().join("\n")
}

/// A result's content: a string, or blocks with text.
pub(super) fn result_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks.iter().filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n"),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}
