//! The endpoints that carry a conversation, told by method and path. A path that is not known leaves the decision to the
//! body's shape (`body_shape.rs`).

use std::ops::Range;

use http::Method;
use model::{Format, Unscored};

use crate::Dialect;
use crate::plain_path::{ends_with, plain_path};

/// Endpoints whose bodies look like a conversation, or may be long, and that ask no model to go on with one.
const NO_CONVERSATION: [&str; 28] = [
    "models",
    "embeddings",
    "embed",
    "rerank",
    "moderations",
    "classifications",
    "count_tokens",
    "count-tokens",
    "input_tokens",
    "estimate-token-count",
    "tokenizer",
    "tokenize",
    "detokenize",
    // Filling in the middle of code as it is typed is no conversation.
    "fim/completions",
    "images/generations",
    "images/edits",
    "images/variations",
    "audio/speech",
    "audio/transcriptions",
    "audio/translations",
    "videos",
    "files",
    "uploads",
    "cachedcontents",
    "conversations",
    "event_logging/batch",
    "api/create",
    "api/embed",
];

/// What Google's paths do with a model beside asking it to go on with a conversation.
const MODEL_ACTIONS: [&str; 6] =
    ["counttokens", "computetokens", "embedcontent", "batchembedcontents", "predict", "predictlongrunning"];

/// What a request carries, as far as its path tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathKind<'a> {
    /// A conversation.
    Conversation(Endpoint<'a>),
    /// None, or one that is not read.
    Unscored(Unscored),
    /// The path is not known: the shape of the body decides.
    Unknown,
}

impl<'a> PathKind<'a> {
    /// What a request to `path` (below the provider's base URL, without query) carries.
    ///
    /// The path decides, and the provider's format hardly: many providers speak several dialects whatever their own format
    /// is. OpenRouter and DeepSeek have `/messages`; Anthropic, Gemini and Ollama have `/chat/completions`.
    pub fn of(format: Format, method: &Method, path: &'a str) -> PathKind<'a> {
        if method != Method::POST {
            return PathKind::Unscored(Unscored::NoConversation);
        }
        // As clients write it: nearly all calls end here.
        let written = (!path.contains("//")).then(|| path.strip_suffix('/').unwrap_or(path));
        if let Some(dialect) = written.and_then(|path| dialect_at(format, path)) {
            return PathKind::Conversation(Endpoint { dialect, model: None, streams: false });
        }
        let plain = plain_path(path);
        if let Some(reason) = unscored_at(&plain) {
            return PathKind::Unscored(reason);
        }
        if let Some(dialect) = dialect_at(format, &plain) {
            return PathKind::Conversation(Endpoint { dialect, model: None, streams: false });
        }
        let endpoint = of_model(path, &plain).or_else(|| of_bedrock(path, &plain));
        endpoint.map_or(PathKind::Unknown, PathKind::Conversation)
    }
}

/// An endpoint that carries a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endpoint<'a> {
    /// What is spoken there. Only a first guess: what the bodies look like decides.
    pub dialect: Dialect,
    /// The model, where the path names it.
    pub model: Option<&'a str>,
    /// Whether the path asks for a stream.
    pub streams: bool,
}

impl<'a> Endpoint<'a> {
    /// The endpoint of a request to `path`, if the path alone tells that it carries a conversation.
    pub fn of(format: Format, method: &Method, path: &'a str) -> Option<Endpoint<'a>> {
        match PathKind::of(format, method, path) {
            PathKind::Conversation(endpoint) => Some(endpoint),
            PathKind::Unscored(_) | PathKind::Unknown => None,
        }
    }

    /// In which dialect the answer of a request to `path` says how many tokens it took, if it asks for embeddings.
    pub fn embeds(method: &Method, path: &str) -> Option<Dialect> {
        if method != Method::POST {
            return None;
        }
        match plain_path(path).rsplit_once('/') {
            Some((before, "embed")) if before.ends_with("api") => Some(Dialect::Ollama),
            // Ollama's older one reports nothing.
            Some((before, "embeddings")) if !before.ends_with("api") => Some(Dialect::ChatCompletions),
            _ => None,
        }
    }
}

/// What is spoken at a path that carries a conversation.
fn dialect_at(format: Format, path: &str) -> Option<Dialect> {
    let ends_with = |end: &str| ends_with(path, end);
    if ends_with("chat/completions") {
        Some(Dialect::ChatCompletions)
    } else if ends_with("responses") || ends_with("responses/compact") {
        Some(Dialect::Responses)
    } else if ends_with("v1/messages") || (format == Format::Anthropic && ends_with("messages")) {
        // OpenAI's own `/threads/{id}/messages` stores a message and asks no model; `v1` before it tells them apart.
        Some(Dialect::Messages)
    } else if ends_with("api/chat") || ends_with("api/generate") {
        Some(Dialect::Ollama)
    } else if ends_with("completions") && !ends_with("fim/completions") {
        Some(Dialect::Completions)
    } else if ends_with("v2/chat") {
        // Cohere's messages and tool calls are written like OpenAI's.
        Some(Dialect::ChatCompletions)
    } else {
        None
    }
}

/// Why a call to this plain path is not scored, if the path tells.
fn unscored_at(path: &str) -> Option<Unscored> {
    let action = path.rsplit_once(':').map(|(_, action)| action);
    if is_thread(path) {
        Some(Unscored::Threads)
    } else if ends_with(path, "batches") || action == Some("batchgeneratecontent") {
        Some(Unscored::Batch)
    } else if NO_CONVERSATION.iter().any(|end| ends_with(path, end))
        || action.is_some_and(|action| MODEL_ACTIONS.contains(&action))
    {
        Some(Unscored::NoConversation)
    } else {
        None
    }
}

/// Whether it is one of OpenAI's threads, their messages or their runs.
fn is_thread(path: &str) -> bool {
    let mut from_end = path.rsplit('/');
    let last_five: [&str; 5] = std::array::from_fn(|_| from_end.next().unwrap_or_default());
    matches!(
        last_five,
        ["threads", ..]
            | ["runs", "threads", ..]
            | ["runs" | "messages", _, "threads", ..]
            | ["submit_tool_outputs", _, "runs", _, "threads"]
    )
}

/// Google's paths end with the model and what to do with it: `…/models/{model}:generateContent`. Its clients for
/// companies reach Claude in the same way.
fn of_model<'a>(path: &'a str, plain: &str) -> Option<Endpoint<'a>> {
    let (named, action) = plain.rsplit_once(':')?;
    let (dialect, streams) = match action {
        "generatecontent" => (Dialect::Gemini, false),
        "streamgeneratecontent" => (Dialect::Gemini, true),
        "rawpredict" => (Dialect::Messages, false),
        "streamrawpredict" => (Dialect::Messages, true),
        _ => return None,
    };
    let is_named = named.rsplit_once('/').is_some_and(|(before, _)| ends_with(before, "models"));
    let model = model_span(path).filter(|_| is_named).and_then(|span| path.get(span));
    Some(Endpoint { dialect, model, streams })
}

/// Where the model stands in one of Google's paths: from the last slash to the last colon, percent-encoded or not.
pub(crate) fn model_span(path: &str) -> Option<Range<usize>> {
    let trimmed = path.trim_end_matches('/');
    // A parameter of the last segment may hold a colon of its own.
    let last = trimmed.rfind('/').map_or(0, |slash| slash + 1);
    let written = trimmed[last..].find(';').map_or(trimmed, |semicolon| &trimmed[..last + semicolon]);
    let end = last_of(written, ':', "%3a").map(|(at, _)| at)?;
    let start = last_of(&written[..end], '/', "%2f").map_or(0, |(at, length)| at + length);
    Some(start..end)
}

/// The last place of `plain` or of `encoded`, in capitals or not, and the length of what stands there.
fn last_of(text: &str, plain: char, encoded: &str) -> Option<(usize, usize)> {
    let plain_at = text.rfind(plain).map(|at| (at, plain.len_utf8()));
    let encoded_at = text.to_ascii_lowercase().rfind(encoded).map(|at| (at, encoded.len()));
    plain_at.max(encoded_at)
}

/// Bedrock's paths: `/model/{model}/converse`, and `invoke` with a body of the model's own dialect.
fn of_bedrock<'a>(path: &'a str, plain: &str) -> Option<Endpoint<'a>> {
    let (before, action) = plain.rsplit_once('/')?;
    let streams = match action {
        "converse" | "invoke" => false,
        "converse-stream" | "invoke-with-response-stream" => true,
        _ => return None,
    };
    before.rsplit_once('/').filter(|(before, _)| ends_with(before, "model"))?;
    let model = path.trim_end_matches('/').rsplit('/').nth(1).filter(|model| !model.is_empty());
    Some(Endpoint { dialect: Dialect::Messages, model, streams })
}

#[cfg(test)]
mod tests;
