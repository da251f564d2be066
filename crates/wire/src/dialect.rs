//! The endpoints that carry a conversation.

use http::Method;
use model::Format;

/// One shape of requests, responses and streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// OpenAI Chat Completions.
    ChatCompletions,
    /// Anthropic Messages.
    Messages,
}

impl Dialect {
    /// The dialect of a request to `path` (below the provider's base URL, without query), if it carries a conversation.
    ///
    /// The path decides, since many providers speak both dialects whatever their own format is: OpenRouter and DeepSeek
    /// have `/messages`, Anthropic, Gemini and Ollama have `/chat/completions`. Only what comes before differs.
    pub fn of(format: Format, method: &Method, path: &str) -> Option<Dialect> {
        if method != Method::POST {
            return None;
        }
        let path = path.strip_suffix('/').unwrap_or(path);
        let ends_with = |end: &str| path.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
        if ends_with("chat/completions") {
            return Some(Dialect::ChatCompletions);
        }
        // OpenAI's own `/threads/{id}/messages` stores a message and asks no model; `v1` before it tells them apart.
        let is_messages = match format {
            Format::Anthropic => ends_with("messages"),
            Format::Openai | Format::Gemini | Format::Ollama => ends_with("v1/messages"),
        };
        is_messages.then_some(Dialect::Messages)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversations_are_told_by_their_path() {
        let check = |format, path, expected| assert_eq!(Dialect::of(format, &Method::POST, path), expected, "{path}");
        for path in
            ["/v1/chat/completions", "v1/chat/completions/", "/openai/v1/chat/completions", "/v4/chat/completions"]
        {
            for format in [Format::Openai, Format::Gemini, Format::Ollama] {
                check(format, path, Some(Dialect::ChatCompletions));
            }
        }
        for path in ["/v1/messages", "/v1/messages/", "v1/messages", "/anthropic/v1/messages"] {
            check(Format::Anthropic, path, Some(Dialect::Messages));
            check(Format::Openai, path, Some(Dialect::Messages));
        }
        for path in ["", "/", "/v1/models", "/v1/embeddings", "/v1/messages/count_tokens", "/v1/messages/batches"] {
            check(Format::Anthropic, path, None);
            check(Format::Openai, path, None);
        }
        check(Format::Openai, "/v1/threads/thread_1/messages", None);
        check(Format::Openai, "/v1/chat/completions/chatcmpl-1", None);
        check(Format::Openai, "/v1/xchat/completions", None);
    }

    #[test]
    fn only_a_post_asks() {
        assert_eq!(Dialect::of(Format::Openai, &Method::GET, "/v1/chat/completions"), None);
    }
}
