//! The endpoints that carry a conversation, told by method and path.

use http::Method;
use model::Format;

use crate::Dialect;

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
    /// The endpoint of a request to `path` (below the provider's base URL, without query), if it carries a conversation.
    ///
    /// The path decides, and the provider's format hardly: many providers speak several dialects whatever their own format
    /// is. OpenRouter and DeepSeek have `/messages`; Anthropic, Gemini and Ollama have `/chat/completions`. All that is not
    /// listed here (models, embeddings, files, batches, token counting, …) asks no model to go on with a conversation.
    pub fn of(format: Format, method: &Method, path: &'a str) -> Option<Endpoint<'a>> {
        if method != Method::POST {
            return None;
        }
        let path = path.strip_suffix('/').unwrap_or(path);
        let ends_with = |end: &str| path.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
        let dialect = if ends_with("chat/completions") {
            Dialect::ChatCompletions
        } else if ends_with("responses") {
            Dialect::Responses
        } else if ends_with("v1/messages") || (format == Format::Anthropic && ends_with("messages")) {
            // OpenAI's own `/threads/{id}/messages` stores a message and asks no model; `v1` before it tells them apart.
            Dialect::Messages
        } else if ends_with("api/chat") || ends_with("api/generate") {
            Dialect::Ollama
        } else if ends_with("completions") && !ends_with("fim/completions") {
            // To fill in the middle of code as it is typed is no conversation.
            Dialect::Completions
        } else {
            return Endpoint::of_model(path);
        };
        Some(Endpoint { dialect, model: None, streams: false })
    }

    /// In which dialect the answer of a request to `path` says how many tokens it took, if it asks for embeddings.
    pub fn embeds(method: &Method, path: &str) -> Option<Dialect> {
        let path = path.strip_suffix('/').unwrap_or(path);
        match path.rsplit_once('/') {
            _ if method != Method::POST => None,
            Some((before, "embed")) if before.ends_with("api") => Some(Dialect::Ollama),
            // Ollama's older one reports nothing.
            Some((before, "embeddings")) if !before.ends_with("api") => Some(Dialect::ChatCompletions),
            _ => None,
        }
    }

    /// Google's paths end with the model and what to do with it: `…/models/{model}:generateContent`. Its clients for
    /// companies reach Claude in the same way.
    fn of_model(path: &'a str) -> Option<Endpoint<'a>> {
        let last = path.rsplit('/').next()?;
        let (model, action) = last.rsplit_once(':').or_else(|| last.rsplit_once("%3A"))?;
        let (dialect, streams) = match action {
            "generateContent" => (Dialect::Gemini, false),
            "streamGenerateContent" => (Dialect::Gemini, true),
            "rawPredict" => (Dialect::Messages, false),
            "streamRawPredict" => (Dialect::Messages, true),
            _ => return None,
        };
        let names_model = path.len() > last.len() && path[..path.len() - last.len()].ends_with("models/");
        Some(Endpoint { dialect, model: names_model.then_some(model), streams })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(format: Format, path: &str, expected: Option<Dialect>) {
        assert_eq!(Endpoint::of(format, &Method::POST, path).map(|it| it.dialect), expected, "{path}");
    }

    #[test]
    fn conversations_are_told_by_their_path() {
        for (dialect, paths) in [
            (
                Dialect::ChatCompletions,
                &[
                    "/v1/chat/completions",
                    "v1/chat/completions/",
                    "/openai/v1/chat/completions",
                    "/v4/chat/completions",
                ][..],
            ),
            (
                Dialect::Responses,
                &["/v1/responses", "/responses", "/openai/responses/", "/backend-api/codex/responses"],
            ),
            (Dialect::Completions, &["/v1/completions", "/completions", "/openai/deployments/d/completions"]),
            (Dialect::Messages, &["/v1/messages", "/v1/messages/", "v1/messages", "/anthropic/v1/messages"]),
            (Dialect::Ollama, &["/api/chat", "/api/generate", "/ollama/api/chat"]),
            (
                Dialect::Gemini,
                &[
                    "/v1beta/models/gemini-3-pro:generateContent",
                    "/v1beta/models/gemini-3-pro:streamGenerateContent",
                    "/v1/projects/p/locations/l/publishers/google/models/g:streamGenerateContent",
                    "/v1internal:streamGenerateContent",
                ],
            ),
        ] {
            for format in [Format::Openai, Format::Anthropic, Format::Gemini, Format::Ollama] {
                paths.iter().for_each(|path| check(format, path, Some(dialect)));
            }
        }
        check(Format::Anthropic, "/messages", Some(Dialect::Messages));
        check(
            Format::Gemini,
            "/v1/projects/p/locations/l/publishers/anthropic/models/c:streamRawPredict",
            Some(Dialect::Messages),
        );
    }

    #[test]
    fn side_calls_carry_no_conversation() {
        for path in [
            "",
            "/",
            "/v1/models",
            "/v1/embeddings",
            "/v1/moderations",
            "/v1/files",
            "/v1/batches",
            "/v1/messages/count_tokens",
            "/v1/messages/batches",
            "/v1/responses/compact",
            "/v1/responses/input_tokens",
            "/v1/responses/resp_1/cancel",
            "/v1/chat/completions/chatcmpl-1",
            "/v1/xchat/completions/x",
            "/v1/fim/completions",
            "/v1/threads/thread_1/messages/x",
            "/v1beta/models/gemini-3-pro:countTokens",
            "/v1beta/models/gemini-embedding:embedContent",
            "/v1beta/models/gemini-3-pro:batchGenerateContent",
            "/api/embed",
            "/api/tags",
            "/api/show",
        ] {
            for format in [Format::Openai, Format::Anthropic, Format::Gemini, Format::Ollama] {
                check(format, path, None);
            }
        }
        check(Format::Openai, "/v1/threads/thread_1/messages", None);
    }

    #[test]
    fn embeddings_are_told_by_their_path() {
        let check = |path: &str, expected| assert_eq!(Endpoint::embeds(&Method::POST, path), expected, "{path}");
        for path in ["/v1/embeddings", "v1/embeddings/", "/openai/deployments/d/embeddings"] {
            check(path, Some(Dialect::ChatCompletions));
        }
        check("/api/embed", Some(Dialect::Ollama));
        for path in ["/api/embeddings", "/v1/embeddings/x", "/v1/embed", "/v1/chat/completions", "embeddings"] {
            check(path, None);
        }
        assert_eq!(Endpoint::embeds(&Method::GET, "/v1/embeddings"), None);
    }

    #[test]
    fn google_s_paths_name_the_model() {
        let of = |path| Endpoint::of(Format::Gemini, &Method::POST, path).map(|it| (it.model, it.streams));
        assert_eq!(of("/v1beta/models/gemini-3:generateContent"), Some((Some("gemini-3"), false)));
        assert_eq!(of("/v1beta/models/gemini-3%3AstreamGenerateContent"), Some((Some("gemini-3"), true)));
        assert_eq!(of("/v1internal:streamGenerateContent"), Some((None, true)));
    }

    #[test]
    fn only_a_post_asks() {
        assert_eq!(Endpoint::of(Format::Openai, &Method::GET, "/v1/chat/completions"), None);
        assert_eq!(Endpoint::of(Format::Gemini, &Method::GET, "/v1beta/models/g:generateContent"), None);
    }
}
