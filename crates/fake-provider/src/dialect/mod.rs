//! The dialects of the provider, and the framing of streams.

pub(crate) mod chat_completions;
pub(crate) mod completions;
pub(crate) mod gemini;
pub(crate) mod messages;
pub(crate) mod ollama;
pub(crate) mod responses;

use crate::output::Framing;
use http::{Method, Uri};

/// A dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    ChatCompletions,
    Completions,
    Responses,
    Messages,
    Gemini,
    OllamaChat,
    OllamaGenerate,
}

impl Dialect {
    /// The dialect of a request, if it carries a conversation.
    pub(crate) fn of(method: &Method, path: &str) -> Option<Dialect> {
        const ENDPOINTS: [(&str, Dialect); 8] = [
            ("/chat/completions", Dialect::ChatCompletions),
            ("/completions", Dialect::Completions),
            ("/responses", Dialect::Responses),
            ("/messages", Dialect::Messages),
            (":generateContent", Dialect::Gemini),
            (":streamGenerateContent", Dialect::Gemini),
            ("/api/chat", Dialect::OllamaChat),
            ("/api/generate", Dialect::OllamaGenerate),
        ];
        if method != Method::POST {
            return None;
        }
        ENDPOINTS.iter().find(|(end, _)| path.ends_with(end)).map(|(_, dialect)| *dialect)
    }

    /// The framing of the answer, given the request's `stream`.
    pub(crate) fn framing(self, uri: &Uri, stream: Option<bool>) -> Framing {
        let in_events = uri.query().is_some_and(|query| query.split('&').any(|pair| pair == "alt=sse"));
        match self {
            Dialect::Gemini if !uri.path().ends_with(":streamGenerateContent") => Framing::Whole,
            Dialect::Gemini if in_events => Framing::Events,
            Dialect::Gemini => Framing::Array,
            // Ollama streams by default.
            Dialect::OllamaChat | Dialect::OllamaGenerate if stream != Some(false) => Framing::Lines,
            _ if stream == Some(true) => Framing::Events,
            _ => Framing::Whole,
        }
    }
}

/// The model that Gemini's paths name: `/v1beta/models/{model}:generateContent`.
pub(crate) fn model_in(path: &str) -> Option<&str> {
    let (_, end) = path.rsplit_once("/models/")?;
    end.split_once(':').map(|(model, _)| model)
}
