//! Recognises endpoints that carry a conversation by method and path. For an unknown path the
//! body's shape decides (`body_shape.rs`).

mod body_shape;
mod plain_path;
mod providers;

use std::ops::Range;

use http::Method;
use model::{Format, Unscored};

pub use body_shape::dialect_of_body;
pub use providers::{builtin_providers, chat_path};

use crate::Dialect;
use plain_path::{ends_with, plain_path};

/// Endpoints whose bodies look like a conversation or may be long, but that do not continue one.
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
    // Code completion while typing is no conversation.
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

/// Google's actions on a model that do not continue a conversation.
const MODEL_ACTIONS: [&str; 6] =
    ["counttokens", "computetokens", "embedcontent", "batchembedcontents", "predict", "predictlongrunning"];

/// What a request carries, judged by its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathKind<'a> {
    /// A conversation.
    Conversation(Endpoint<'a>),
    /// No conversation, or one that is not read.
    Unscored(Unscored),
    /// The path is unknown: the shape of the body decides.
    Unknown,
}

impl<'a> PathKind<'a> {
    /// Classifies `path`, which is relative to the provider's base URL and has no query.
    ///
    /// The path matters more than the provider's format, because many providers speak several
    /// dialects. OpenRouter and DeepSeek have `/messages`; Anthropic, Gemini and Ollama have
    /// `/chat/completions`.
    pub fn of(format: Format, method: &Method, path: &'a str) -> PathKind<'a> {
        if method != Method::POST {
            return PathKind::Unscored(Unscored::NoConversation);
        }
        // The usual spelling, which nearly all calls have.
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
        let endpoint = google_endpoint(path, &plain).or_else(|| bedrock_endpoint(path, &plain));
        endpoint.map_or(PathKind::Unknown, PathKind::Conversation)
    }
}

/// An endpoint that carries a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endpoint<'a> {
    /// The expected dialect. The bodies themselves decide in the end.
    pub dialect: Dialect,
    /// The model, if the path names it.
    pub model: Option<&'a str>,
    /// Whether the path asks for a stream.
    pub streams: bool,
}

impl<'a> Endpoint<'a> {
    /// The endpoint at `path`, if the path alone shows that it carries a conversation.
    pub fn of(format: Format, method: &Method, path: &'a str) -> Option<Endpoint<'a>> {
        match PathKind::of(format, method, path) {
            PathKind::Conversation(endpoint) => Some(endpoint),
            PathKind::Unscored(_) | PathKind::Unknown => None,
        }
    }

    /// The dialect in which a request for embeddings at `path` reports its usage.
    pub fn embeds(method: &Method, path: &str) -> Option<Dialect> {
        if method != Method::POST {
            return None;
        }
        match plain_path(path).rsplit_once('/') {
            Some((before, "embed")) if before.ends_with("api") => Some(Dialect::Ollama),
            // Ollama's older endpoint reports no usage.
            Some((before, "embeddings")) if !before.ends_with("api") => Some(Dialect::ChatCompletions),
            _ => None,
        }
    }
}

/// The dialect of a path that carries a conversation.
fn dialect_at(format: Format, path: &str) -> Option<Dialect> {
    let ends_with = |end: &str| ends_with(path, end);
    if ends_with("chat/completions") {
        Some(Dialect::ChatCompletions)
    } else if ends_with("responses") || ends_with("responses/compact") {
        Some(Dialect::Responses)
    } else if ends_with("v1/messages") || (format == Format::Anthropic && ends_with("messages")) {
        // OpenAI's `/threads/{id}/messages` only stores a message, so `v1` is required.
        Some(Dialect::Messages)
    } else if ends_with("api/chat") || ends_with("api/generate") {
        Some(Dialect::Ollama)
    } else if ends_with("completions") && !ends_with("fim/completions") {
        Some(Dialect::Completions)
    } else if ends_with("v2/chat") {
        Some(Dialect::Cohere)
    } else {
        None
    }
}

/// Why a call to this plain path is not scored, if the path shows it.
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

/// Whether the path is one of OpenAI's threads, their messages or their runs.
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

/// Google's paths end with the model and an action: `…/models/{model}:generateContent`. Vertex AI
/// serves Claude in the same way.
fn google_endpoint<'a>(path: &'a str, plain: &str) -> Option<Endpoint<'a>> {
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

/// The range of the model in one of Google's paths: from the last slash to the last colon,
/// percent-encoded or not.
pub(crate) fn model_span(path: &str) -> Option<Range<usize>> {
    let trimmed = path.trim_end_matches('/');
    // A parameter of the last segment may contain a colon.
    let last = trimmed.rfind('/').map_or(0, |slash| slash + 1);
    let written = trimmed[last..].find(';').map_or(trimmed, |semicolon| &trimmed[..last + semicolon]);
    let end = last_of(written, ':', "%3a").map(|(at, _)| at)?;
    let start = last_of(&written[..end], '/', "%2f").map_or(0, |(at, length)| at + length);
    Some(start..end)
}

/// The last position of `plain` or `encoded` (in any case), and the length of the match.
fn last_of(text: &str, plain: char, encoded: &str) -> Option<(usize, usize)> {
    let plain_at = text.rfind(plain).map(|at| (at, plain.len_utf8()));
    let encoded_at = text.to_ascii_lowercase().rfind(encoded).map(|at| (at, encoded.len()));
    plain_at.max(encoded_at)
}

/// Bedrock's paths: `/model/{model}/converse`, and `invoke` with a body of the model's own dialect.
fn bedrock_endpoint<'a>(path: &'a str, plain: &str) -> Option<Endpoint<'a>> {
    let (before, action) = plain.rsplit_once('/')?;
    let (dialect, streams) = match action {
        "converse" => (Dialect::Converse, false),
        "converse-stream" => (Dialect::Converse, true),
        "invoke" => (Dialect::Messages, false),
        "invoke-with-response-stream" => (Dialect::Messages, true),
        _ => return None,
    };
    before.rsplit_once('/').filter(|(before, _)| ends_with(before, "model"))?;
    let model = path.trim_end_matches('/').rsplit('/').nth(1).filter(|model| !model.is_empty());
    Some(Endpoint { dialect, model, streams })
}

#[cfg(test)]
mod tests;
