//! What is new in a request, and what an answer holds.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::content::{Block, By, Message, result_text, text_of};

/// The part of a request that a detector looks at.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    /// The session id that the client sends, else the first words of the user.
    pub(crate) conversation: String,
    /// The last message that the user wrote.
    pub(crate) prompt: String,
    /// How many messages the user wrote.
    pub(crate) user_messages: usize,
    /// The tool calls of the newest step, if results stand behind them.
    pub(crate) sent_back: Vec<ToolUse>,
    /// The results of the newest step.
    pub(crate) results: Vec<Result>,
}

/// A tool call: name and arguments with sorted keys.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ToolUse {
    pub(crate) name: String,
    pub(crate) arguments: String,
}

/// What a tool gave back.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Result {
    pub(crate) text: String,
    pub(crate) is_error: bool,
}

/// What the model answered.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Answered {
    pub(crate) text: String,
    pub(crate) calls: Vec<ToolUse>,
}

#[derive(Deserialize)]
struct Request<'a> {
    #[serde(borrow, default)]
    messages: Option<Vec<&'a RawValue>>,
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
    #[serde(default)]
    metadata: Option<Value>,
    #[serde(default)]
    prompt_cache_key: Option<String>,
}

/// Reads a request from its end: the history before the newest step is skipped.
pub(super) fn asked(body: &str) -> serde_json::Result<Asked> {
    let request: Request<'_> = serde_json::from_str(body)?;
    let messages = match (&request.messages, request.input) {
        (Some(messages), _) => messages.clone(),
        (None, Some(input)) => serde_json::from_str(input.get()).unwrap_or_else(|_| vec![input]),
        (None, None) => Vec::new(),
    };
    let mut asked = Asked::default();
    let mut is_newest_step = true;
    for raw in messages.iter().rev() {
        let message = read(raw);
        is_newest_step &= take(&mut asked, &message, is_newest_step);
    }
    asked.sent_back.reverse();
    asked.results.reverse();
    if asked.results.is_empty() {
        asked.sent_back.clear();
    }
    let first = messages.iter().map(|raw| read(raw)).find(|message| message.by() == By::User);
    let first_words = first.map_or_else(String::new, |message| text_of(&message.blocks()));
    asked.conversation = session(&request).unwrap_or(first_words);
    Ok(asked)
}

fn read(raw: &RawValue) -> Message<'_> {
    serde_json::from_str(raw.get()).unwrap_or_default()
}

/// Takes what a message adds. Returns whether the newest step goes on before it.
fn take(asked: &mut Asked, message: &Message<'_>, is_newest_step: bool) -> bool {
    match message.by() {
        By::User => take_user(asked, &message.blocks(), is_newest_step),
        // Without words between, a result that stands before the calls belongs to the step before.
        By::Tool if is_newest_step && asked.sent_back.is_empty() => {
            let content =
                message.output.clone().or_else(|| message.content.and_then(|raw| serde_json::from_str(raw.get()).ok()));
            asked.results.push(Result { text: result_text(&content.unwrap_or_default()), is_error: false });
            true
        }
        By::Model if is_newest_step => {
            asked.sent_back.extend(calls(message).into_iter().rev());
            // In Responses every call is an item of its own.
            message.kind.as_deref().is_some_and(|kind| kind.ends_with("_call"))
        }
        By::System => is_newest_step,
        By::Tool | By::Model => false,
    }
}

/// A user message of Messages may carry results, words, or both.
fn take_user(asked: &mut Asked, blocks: &[Block], is_newest_step: bool) -> bool {
    let results: Vec<&Block> = blocks.iter().filter(|block| block.kind == "tool_result").collect();
    let text = text_of(blocks);
    if results.is_empty() || !text.is_empty() {
        asked.user_messages += 1;
        if asked.prompt.is_empty() {
            asked.prompt = text;
        }
    }
    if is_newest_step {
        let result = |block: &&Block| {
            let text = result_text(block.content.as_ref().unwrap_or(&Value::Null));
            Result { text, is_error: block.is_error }
        };
        asked.results.extend(results.iter().rev().map(result));
    }
    is_newest_step
}

fn calls(message: &Message<'_>) -> Vec<ToolUse> {
    let mut calls: Vec<ToolUse> = message
        .blocks()
        .into_iter()
        .filter(|block| block.kind == "tool_use")
        .map(|block| tool_use(block.name.unwrap_or_default(), block.input.unwrap_or_default()))
        .collect();
    for call in message.tool_calls.iter().flatten() {
        let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
        let name = call["function"]["name"].as_str().unwrap_or_default().to_owned();
        calls.push(tool_use(name, serde_json::from_str(arguments).unwrap_or_else(|_| arguments.into())));
    }
    if let (Some(name), Some(kind)) = (&message.name, message.kind.as_deref())
        && kind.ends_with("_call")
    {
        let text = message.arguments.clone().unwrap_or_default();
        let input = message.input.clone().or_else(|| serde_json::from_str(&text).ok());
        calls.push(tool_use(name.clone(), input.unwrap_or_else(|| text.into())));
    }
    calls
}

/// Arguments are compared as `serde_json` writes them: with sorted keys.
fn tool_use(name: String, input: Value) -> ToolUse {
    ToolUse { name, arguments: input.to_string() }
}

/// The session id where clients put it into the body.
fn session(request: &Request<'_>) -> Option<String> {
    if let Some(key) = &request.prompt_cache_key {
        return Some(key.clone());
    }
    let metadata = request.metadata.as_ref()?;
    if let Some(session) = metadata["session_id"].as_str() {
        return Some(session.to_owned());
    }
    let user: Value = serde_json::from_str(metadata["user_id"].as_str()?).ok()?;
    user["session_id"].as_str().map(str::to_owned)
}

#[derive(Default, Deserialize)]
struct Response<'a> {
    #[serde(borrow, default)]
    choices: Vec<Choice<'a>>,
    #[serde(borrow, default)]
    output: Vec<Message<'a>>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(borrow)]
    message: Message<'a>,
}

/// Reads an answer: a body of any form, or an assistant's message.
pub(super) fn answered(body: &str) -> Answered {
    let response: Response<'_> = serde_json::from_str(body).unwrap_or_default();
    let mut messages: Vec<Message<'_>> = response.choices.into_iter().map(|choice| choice.message).collect();
    messages.extend(response.output);
    if messages.is_empty() {
        messages.extend(serde_json::from_str::<Message<'_>>(body));
    }
    let mut answered = Answered::default();
    for message in &messages {
        answered.text += &text_of(&message.blocks());
        answered.calls.extend(calls(message));
    }
    answered
}
