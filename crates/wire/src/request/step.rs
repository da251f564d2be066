//! One step of work: the tool calls that the model made and the results that the agent sends back.

use std::borrow::Cow;
use std::collections::HashMap;

use model::ToolCall;

use super::message::Message;
use crate::content::{Content, Part, parts};
use crate::json::{Cursor, Json, Malformed};
use crate::tool_call::{CallWithId, read_item, read_named, read_value};

/// The calls in `called` and their `results`, ordered like the calls where ids allow it.
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

/// A tool's result and the id of the call it answers.
#[derive(Debug)]
struct Answer<'a> {
    id: Option<Cow<'a, str>>,
    text: Cow<'a, str>,
}

fn calls_of<'a>(message: &Message<'a>, mut each: impl FnMut(CallWithId<'a>)) {
    if let Some(item) = message.call_item() {
        return each(read_item(item));
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
        each(CallWithId { id: None, call: read_value(call) });
    }
}

/// The keys under which Gemini and Bedrock put a call into a part.
const CALL_KEYS: [&str; 3] = ["functionCall", "function_call", "toolUse"];

/// Anthropic: `{"type":"tool_use","id","name","input":{…}}`; Gemini:
/// `{"functionCall":{"id"?,"name","args":{…}}}`; Bedrock:
/// `{"toolUse":{"toolUseId","name","input":{…}}}`.
fn tool_use(part: Json<'_>) -> CallWithId<'_> {
    let part = CALL_KEYS.iter().find_map(|key| part.field(key)).unwrap_or(part);
    let id = part.field("id").or_else(|| part.field("toolUseId")).and_then(Json::text);
    CallWithId { id, call: read_value(part) }
}

/// OpenAI: `{"id","type","function":{"name","arguments":"…"}}`, or `custom` with its `input`.
fn tool_call<'a>(cursor: &mut Cursor<'a>) -> Result<Option<CallWithId<'a>>, Malformed> {
    let (mut id, mut call) = (None, None);
    cursor.object(|cursor, key| {
        match key {
            "id" => id = cursor.value()?.text(),
            "function" | "custom" => call = Some(read_named(cursor)?),
            _ => cursor.pass()?,
        }
        Ok(())
    })?;
    Ok(call.map(|call| CallWithId { id, call }))
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
        let gemini = || part.field("functionResponse").or_else(|| part.field("function_response"));
        each(match (part.field("toolResult"), gemini()) {
            (Some(result), _) => answer(result, "toolUseId", "content"),
            (None, Some(response)) => answer(response, "id", "response"),
            (None, None) => answer(part, "tool_use_id", "content"),
        });
    });
}

/// A result, given its dialect's keys for the call's id and the text.
fn answer<'a>(result: Json<'a>, id_key: &str, text_key: &str) -> Answer<'a> {
    Answer { id: result.field(id_key).and_then(Json::text), text: text_of(result.field(text_key)) }
}

/// The text of a tool's output: a string, the texts of its parts, or raw JSON.
fn text_of(given: Option<Json<'_>>) -> Cow<'_, str> {
    match given {
        None => Cow::default(),
        Some(given) if given.raw().starts_with('{') => Cow::Borrowed(given.raw()),
        Some(given) => given.text().unwrap_or_else(|| Content::read(given).joined()),
    }
}
