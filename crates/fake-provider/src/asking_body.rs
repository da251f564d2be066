//! Reads the messages and tools of a request by their shape. One reader for all formats is shorter
//! than one for each.

use serde_json::{Map, Value};

use crate::output::Call;

/// The messages, contents or items of a request, oldest first.
pub(crate) fn messages(body: &Value) -> &[Value] {
    let lists = ["messages", "contents", "input"].map(|key| body[key].as_array());
    lists.into_iter().flatten().next().map(Vec::as_slice).unwrap_or_default()
}

/// The text of the user's last message that has any, or the prompt if there are no messages.
pub(crate) fn last_user_text(body: &Value) -> String {
    let of_user = messages(body).iter().rev().filter(|message| is_of_user(message));
    let text = of_user.map(|message| text_of(content_of(message))).find(|text| !text.is_empty());
    let prompt = || ["input", "prompt"].into_iter().map(|key| text_of(&body[key])).find(|text| !text.is_empty());
    text.or_else(prompt).unwrap_or_default()
}

/// Whether the newest message is a tool result.
pub(crate) fn brings_tool_result(body: &Value) -> bool {
    let Some(newest) = messages(body).last() else { return false };
    let kind = newest["type"].as_str().unwrap_or_default();
    newest["role"] == "tool" || kind.ends_with("_call_output") || parts_of(newest).iter().any(is_result)
}

/// A call of the first offered tool, if any.
pub(crate) fn tool_on_offer(body: &Value) -> Option<Call> {
    let tool = body["tools"].get(0)?;
    // Gemini accepts its fields in both spellings, and some clients mix them.
    let declarations = [&tool["functionDeclarations"][0], &tool["function_declarations"][0]];
    let wrapped = [&tool["function"], &tool["custom"]].into_iter().chain(declarations);
    let described = wrapped.into_iter().find(|inner| inner.is_object()).unwrap_or(tool);
    let name = described["name"].as_str()?.to_owned();
    let schemas = ["parameters", "parametersJsonSchema", "parameters_json_schema", "input_schema"];
    let schema = schemas.into_iter().map(|key| &described[key]).find(|schema| schema.is_object());
    // A custom tool takes text, all others take an object. Anthropic's type `custom` has a schema
    // and takes an object.
    let arguments = match schema {
        None if tool["type"] == "custom" => Value::from("example"),
        schema => example_arguments(schema.unwrap_or(&Value::Null)),
    };
    Some(Call { name, arguments })
}

/// Whether a tool of this name is offered, in the list of tools or in a message that adds more.
pub(crate) fn offers_tool(body: &Value, name: &str) -> bool {
    std::iter::once(body).chain(messages(body)).any(|place| is_tool_in(&place["tools"], name))
}

/// Whether a tool of this name is among `tools`, which may hold lists of tools themselves.
fn is_tool_in(tools: &Value, name: &str) -> bool {
    const LISTS: [&str; 3] = ["functionDeclarations", "function_declarations", "tools"];
    let is_named = |described: &Value| described["name"] == name;
    tools.as_array().into_iter().flatten().any(|tool| {
        let described = [tool, &tool["function"], &tool["custom"]].into_iter().any(is_named);
        described || LISTS.into_iter().any(|list| is_tool_in(&tool[list], name))
    })
}

/// In Gemini the role of a single message is optional.
fn is_of_user(message: &Value) -> bool {
    message["role"] == "user" || (message["role"].is_null() && message["parts"].is_array())
}

fn content_of(message: &Value) -> &Value {
    if message["parts"].is_array() { &message["parts"] } else { &message["content"] }
}

fn parts_of(message: &Value) -> &[Value] {
    content_of(message).as_array().map(Vec::as_slice).unwrap_or_default()
}

fn is_result(part: &Value) -> bool {
    part["type"] == "tool_result" || part["functionResponse"].is_object() || part["function_response"].is_object()
}

/// The text of a message, as a string or in parts.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str().or(part.as_str())).collect(),
        _ => String::new(),
    }
}

/// Arguments that satisfy the required properties of a schema.
fn example_arguments(schema: &Value) -> Value {
    let required = schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
    let example = |name: &str| {
        let kind = schema["properties"][name]["type"].as_str().unwrap_or_default().to_ascii_lowercase();
        match kind.as_str() {
            "integer" | "number" => Value::from(1),
            "boolean" => Value::from(true),
            "array" => Value::Array(Vec::new()),
            "object" => Value::Object(Map::new()),
            _ => Value::from("example"),
        }
    };
    required.iter().filter_map(Value::as_str).map(|name| (name.to_owned(), example(name))).collect::<Map<_, _>>().into()
}
