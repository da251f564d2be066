//! One step of work: the tool calls that the model made and the results that the agent sends back.

use std::borrow::Cow;
use std::collections::HashMap;

use model::ToolCall;

use crate::content::{Content, Part, parts};
use crate::json::Json;
use crate::message::Message;

/// The calls in `called` and the `results` that followed, in the order of the calls where their ids tell it.
pub(crate) fn read<'a>(called: &[Message<'a>], results: &[Message<'a>]) -> (Vec<ToolCall<'a>>, Vec<Cow<'a, str>>) {
    let calls: Vec<Call<'a>> = called.iter().flat_map(calls_of).collect();
    let mut answers: Vec<Answer<'a>> = results.iter().flat_map(results_of).collect();
    if answers.len() > 1 {
        // A map, not a search per result: a hostile body may hold a hundred thousand of both.
        let places: HashMap<&str, usize> =
            calls.iter().enumerate().filter_map(|(place, call)| Some((call.id.as_deref()?, place))).collect();
        // Stable: results without a known id keep their order, after the others.
        answers.sort_by_key(|answer| answer.id.as_deref().and_then(|id| places.get(id)).copied().unwrap_or(usize::MAX));
    }
    let answers = answers.into_iter().map(|answer| answer.text).collect();
    (calls.into_iter().map(|call| call.call).collect(), answers)
}

/// A tool call and its id.
#[derive(Debug)]
struct Call<'a> {
    id: Option<Cow<'a, str>>,
    call: ToolCall<'a>,
}

/// A tool's result and the id of the call it answers.
#[derive(Debug)]
struct Answer<'a> {
    id: Option<Cow<'a, str>>,
    text: Cow<'a, str>,
}

fn calls_of<'a>(message: &Message<'a>) -> Vec<Call<'a>> {
    if let Some(item) = message.call_item() {
        return vec![call_item(item)];
    }
    let mut calls = Vec::new();
    if let Some(content) = message.content {
        parts(content, |part| {
            if let Part::ToolUse(part) = part {
                calls.push(tool_use(part));
            }
        });
    }
    if let Some(list) = message.tool_calls {
        list.items(|item| calls.extend(tool_call(item)));
    }
    if let Some(call) = message.function_call.filter(|call| !call.is_null()) {
        calls.push(Call { id: None, call: named(call) });
    }
    calls
}

/// Anthropic: `{"type":"tool_use","id","name","input":{…}}`; Gemini: `{"functionCall":{"id"?,"name","args":{…}}}`.
fn tool_use(part: Json<'_>) -> Call<'_> {
    let part = part.field("functionCall").or_else(|| part.field("function_call")).unwrap_or(part);
    Call { id: part.field("id").and_then(Json::text), call: named(part) }
}

/// Responses: `{"type":"function_call","call_id","name","arguments":"…"}`. Built-in tools go by their type instead of a name,
/// and each has its own word for the arguments.
fn call_item(item: Json<'_>) -> Call<'_> {
    let (mut id, mut kind, mut call) = (None, Cow::default(), named(item));
    item.fields(|key, value| match key {
        "call_id" => id = value.text(),
        "type" => kind = value.text().unwrap_or_default(),
        "action" | "operation" | "queries" | "code" if call.arguments.is_empty() => call.arguments = value.raw().into(),
        _ => {}
    });
    if call.name.is_empty() {
        call.name = kind;
    }
    Call { id, call }
}

/// The tool call that an item of Responses is.
pub(crate) fn called_item(item: Json<'_>) -> ToolCall<'_> {
    call_item(item).call
}

/// OpenAI: `{"id","type","function":{"name","arguments":"…"}}`, or `custom` with its `input`.
fn tool_call(item: Json<'_>) -> Option<Call<'_>> {
    let (mut id, mut body) = (None, None);
    item.fields(|key, value| match key {
        "id" => id = value.text(),
        "function" | "custom" => body = Some(value),
        _ => {}
    });
    Some(Call { id, call: named(body?) })
}

/// A name with its arguments, which are a string that holds JSON, or the JSON itself.
pub(crate) fn named(body: Json<'_>) -> ToolCall<'_> {
    let mut call = ToolCall { name: Cow::default(), arguments: Cow::default() };
    body.fields(|key, value| match key {
        "name" => call.name = value.text().unwrap_or_default(),
        "arguments" | "input" | "args" => call.arguments = value.text().unwrap_or(Cow::Borrowed(value.raw())),
        _ => {}
    });
    call
}

fn results_of<'a>(message: &Message<'a>) -> Vec<Answer<'a>> {
    if let Some(item) = message.output_item() {
        return vec![answer(item, "call_id", "output")];
    }
    if !message.has_result_parts() {
        let id = message.tool_call_id.and_then(Json::text);
        return vec![Answer { id, text: text_of(message.content) }];
    }
    let mut results = Vec::new();
    let Some(content) = message.content else { return results };
    parts(content, |part| {
        let Part::ToolResult(part) = part else { return };
        results.push(match part.field("functionResponse").or_else(|| part.field("function_response")) {
            Some(response) => answer(response, "id", "response"),
            None => answer(part, "tool_use_id", "content"),
        });
    });
    results
}

/// A result with the names that its dialect has for the call's id and for what the tool gave.
fn answer<'a>(result: Json<'a>, id_key: &str, text_key: &str) -> Answer<'a> {
    Answer { id: result.field(id_key).and_then(Json::text), text: text_of(result.field(text_key)) }
}

/// The text of what a tool gave: a string, parts, or JSON as it is.
fn text_of(given: Option<Json<'_>>) -> Cow<'_, str> {
    match given {
        None => Cow::default(),
        Some(given) if given.raw().starts_with('{') => Cow::Borrowed(given.raw()),
        Some(given) => Content::read(given).joined(),
    }
}
