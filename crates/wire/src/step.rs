//! One step of work: the tool calls that the model made and the results that the agent sends back.

use std::borrow::Cow;
use std::collections::HashMap;

use model::ToolCall;

use crate::content::{Content, Part, parts};
use crate::json::{Cursor, Json, Malformed};
use crate::message::Message;

/// The calls in `called` and the `results` that followed, in the order of the calls where their ids tell it.
pub(crate) fn read<'a>(called: &[Message<'a>], results: &[Message<'a>]) -> (Vec<ToolCall<'a>>, Vec<Cow<'a, str>>) {
    let mut calls = Vec::new();
    called.iter().for_each(|message| calls_of(message, |call| calls.push(call)));
    let mut answers = Vec::new();
    results.iter().for_each(|message| results_of(message, |answer| answers.push(answer)));
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

fn calls_of<'a>(message: &Message<'a>, mut each: impl FnMut(Call<'a>)) {
    if let Some(item) = message.call_item() {
        return each(call_item(item));
    }
    if let Some(content) = message.content.filter(|_| message.has_call_parts()) {
        parts(content, |part| {
            if let Part::ToolUse(part) = part {
                each(tool_use(part));
            }
        });
    }
    if let Some(list) = message.tool_calls {
        list.each(|cursor| {
            tool_call(cursor)?.map(&mut each);
            Ok(())
        });
    }
    if let Some(call) = message.function_call.filter(|call| !call.is_null()) {
        each(Call { id: None, call: named(call) });
    }
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
fn tool_call<'a>(cursor: &mut Cursor<'a>) -> Result<Option<Call<'a>>, Malformed> {
    let (mut id, mut call) = (None, None);
    cursor.object(|cursor, key| {
        match key {
            "id" => id = cursor.value()?.text(),
            "function" | "custom" => call = Some(read_named(cursor)?),
            _ => cursor.pass()?,
        }
        Ok(())
    })?;
    Ok(call.map(|call| Call { id, call }))
}

/// A name with its arguments, which are a string that holds JSON, or the JSON itself.
pub(crate) fn read_named<'a>(cursor: &mut Cursor<'a>) -> Result<ToolCall<'a>, Malformed> {
    let mut call = ToolCall { name: Cow::default(), arguments: Cow::default() };
    cursor.fields(|key, value| match key {
        "name" => call.name = value.text().unwrap_or_default(),
        "arguments" | "input" | "args" => call.arguments = value.text().unwrap_or(Cow::Borrowed(value.raw())),
        _ => {}
    })?;
    Ok(call)
}

/// The same of a value that was taken before.
pub(crate) fn named(body: Json<'_>) -> ToolCall<'_> {
    // Cannot fail: the value was checked when it was taken.
    read_named(&mut body.cursor()).unwrap_or(ToolCall { name: Cow::default(), arguments: Cow::default() })
}

fn results_of<'a>(message: &Message<'a>, mut each: impl FnMut(Answer<'a>)) {
    if let Some(item) = message.output_item() {
        return each(answer(item, "call_id", "output"));
    }
    if !message.has_result_parts() {
        let id = message.tool_call_id.and_then(Json::text);
        return each(Answer { id, text: text_of(message.content) });
    }
    let Some(content) = message.content else { return };
    parts(content, |part| {
        let Part::ToolResult(part) = part else { return };
        each(match part.field("functionResponse").or_else(|| part.field("function_response")) {
            Some(response) => answer(response, "id", "response"),
            None => answer(part, "tool_use_id", "content"),
        });
    });
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
        Some(given) => given.text().unwrap_or_else(|| Content::read(given).joined()),
    }
}
