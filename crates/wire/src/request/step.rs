//! One step of work: the tool calls that the model made and the results that the agent sends back.

use std::borrow::Cow;
use std::collections::HashMap;

use model::ToolCall;

use super::message::Message;
use crate::content::{Content, Part, ToolResult, attachment_text, parts};
use crate::json::{Cursor, Json, Malformed};
use crate::tool_call::{CallWithId, NO_CALL, read_field, read_item, read_named, read_value};

/// A step as it is written.
#[derive(Debug, Default)]
pub(crate) struct Step<'a> {
    pub(crate) calls: Vec<ToolCall<'a>>,
    /// Ordered like the calls where ids allow it.
    pub(crate) results: Vec<Cow<'a, str>>,
    /// Whether one of the results is marked as an error.
    pub(crate) has_failed: bool,
}

/// The calls in `called` and their `results`.
pub(crate) fn read<'a>(called: &[Message<'a>], results: &[Message<'a>]) -> Step<'a> {
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
    let has_failed = answers.iter().any(|answer| answer.has_failed);
    let results = answers.into_iter().map(|answer| answer.text).collect();
    Step { calls: calls.into_iter().map(|call| call.call).collect(), results, has_failed }
}

/// A tool's result and the id of the call it answers.
#[derive(Debug)]
struct Answer<'a> {
    id: Option<Cow<'a, str>>,
    text: Cow<'a, str>,
    /// Whether the client says that the call failed.
    has_failed: bool,
}

fn calls_of<'a>(message: &Message<'a>, mut visit: impl FnMut(CallWithId<'a>)) {
    if let Some(item) = message.call_item() {
        return visit(read_item(item));
    }
    if let Some(content) = message.content.filter(|_| message.has_call_parts()) {
        parts(content, |part| {
            if let Part::ToolUse(part) = part {
                visit(tool_use(part));
            }
        });
    }
    if let Some(list) = message.tool_calls {
        list.visit(|cursor| {
            tool_call(cursor)?.map(&mut visit);
            Ok(())
        });
    }
    if let Some(call) = message.function_call.filter(|call| !call.is_null()) {
        visit(CallWithId { id: None, call: read_value(call) });
    }
}

/// Anthropic and Gemini: `{"id","name","input" or "args":{…}}`; Bedrock:
/// `{"toolUseId","name","input":{…}}`.
fn tool_use(called: Json<'_>) -> CallWithId<'_> {
    let (mut id, mut bedrock_id, mut call) = (None, None, NO_CALL);
    called.fields(|key, value| match key {
        "id" => id = Some(value),
        "toolUseId" => bedrock_id = Some(value),
        _ => read_field(&mut call, key, value),
    });
    CallWithId { id: id.or(bedrock_id).and_then(Json::text), call }
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

fn results_of<'a>(message: &Message<'a>, mut visit: impl FnMut(Answer<'a>)) {
    if let Some(item) = message.output_item() {
        return visit(answer(item, "call_id", "output"));
    }
    if !message.has_result_parts() {
        let id = message.tool_call_id.and_then(Json::text);
        return visit(Answer { id, text: text_of(message.content), has_failed: false });
    }
    let Some(content) = message.content else { return };
    parts(content, |part| {
        let Part::ToolResult(result) = part else { return };
        visit(match result {
            ToolResult::Anthropic(result) => answer(result, "tool_use_id", "content"),
            ToolResult::Gemini(result) => gemini_answer(result),
            ToolResult::Bedrock(result) => answer(result, "toolUseId", "content"),
        });
    });
}

/// Gemini: `{"functionResponse":{"id"?,"name","response":{"output": "…"}}}`. The response is an
/// object; one field with a text is that text, and `error` says that the call failed.
fn gemini_answer(response: Json<'_>) -> Answer<'_> {
    let read = answer(response, "id", "response");
    let (mut count, mut only) = (0, None);
    if let Some(given) = response.field("response") {
        given.fields(|key, value| {
            count += 1;
            only = value.text().map(|text| (text, key == "error"));
        });
    }
    match only.filter(|_| count == 1) {
        Some((text, has_failed)) => Answer { text, has_failed, ..read },
        None => read,
    }
}

/// Reads a result. `id_key` and `text_key` are the dialect's keys for the call's id and the text.
fn answer<'a>(result: Json<'a>, id_key: &str, text_key: &str) -> Answer<'a> {
    let (mut id, mut text, mut has_failed) = (None, None, false);
    result.fields(|key, value| match key {
        // Anthropic.
        "is_error" => has_failed = value.is_true(),
        // Bedrock.
        "status" => has_failed = value.raw() == r#""error""#,
        _ if key == id_key => id = value.text(),
        _ if key == text_key => text = Some(value),
        _ => {}
    });
    Answer { id, text: text_of(text), has_failed }
}

/// The text of a tool's output: a string, the texts of its parts, or raw JSON. Another screenshot
/// is another text.
fn text_of(given: Option<Json<'_>>) -> Cow<'_, str> {
    match given {
        None => Cow::default(),
        Some(given) if given.raw().starts_with('{') => match given.field("image_url") {
            Some(_) => attachment_text(given.raw()),
            None => Cow::Borrowed(given.raw()),
        },
        Some(given) => given.text().unwrap_or_else(|| Content::read(given).joined()),
    }
}
