use super::*;

fn check(format: Format, path: &str, expected: Option<Dialect>) {
    assert_eq!(Endpoint::of(format, &Method::POST, path).map(|it| it.dialect), expected, "{path}");
}

#[test]
fn conversations_are_recognised_by_path() {
    for (dialect, paths) in [
        (
            Dialect::ChatCompletions,
            &["/v1/chat/completions", "v1/chat/completions/", "/openai/v1/chat/completions", "/v4/chat/completions"][..],
        ),
        (Dialect::Responses, &["/v1/responses", "/responses", "/openai/responses/", "/backend-api/codex/responses"]),
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
fn embeddings_are_recognised_by_path() {
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
fn only_post_carries_a_conversation() {
    assert_eq!(Endpoint::of(Format::Openai, &Method::GET, "/v1/chat/completions"), None);
    assert_eq!(Endpoint::of(Format::Gemini, &Method::GET, "/v1beta/models/g:generateContent"), None);
}

#[test]
fn odd_spellings_of_a_path_carry_the_same_conversation() {
    for (dialect, paths) in [
        (
            Dialect::ChatCompletions,
            &[
                "/v1/chat/completions//",
                "//v1//chat//completions",
                "/v1/chat/completions.json",
                "/v1/chat/completions;x=1",
                "/v1/chat%2fcompletions",
                "/v1/chat/completion%73",
                "/V1/Chat/Completions",
            ][..],
        ),
        (Dialect::Responses, &["/v1/responses/compact", "/v1/Responses/", "/v1/responses;a/compact.json"]),
        (Dialect::Messages, &["/V1/MESSAGES", "/v1%2Fmessages", "/v1/messages.json"]),
        (Dialect::Gemini, &["/v1beta/models/g%3agenerateContent", "/v1beta/models/g:GENERATECONTENT/"]),
        (Dialect::Converse, &["/model/anthropic.claude-v1%3A0/converse", "/model/m/converse-stream"]),
        (Dialect::Messages, &["/model/m/invoke", "/model/m/invoke-with-response-stream"]),
        (Dialect::Cohere, &["/v2/chat", "/compatibility/V2/chat/"]),
    ] {
        paths.iter().for_each(|path| check(Format::Openai, path, Some(dialect)));
    }
}

#[test]
fn unscored_paths_have_a_reason() {
    let check = |path: &str, expected| {
        assert_eq!(PathKind::of(Format::Openai, &Method::POST, path), PathKind::Unscored(expected), "{path}");
    };
    for path in ["/v1/messages/count_tokens", "/v1/messages/COUNT_TOKENS//", "/v1/tokenizers/estimate-token-count"] {
        check(path, Unscored::NoConversation);
    }
    for path in [
        "/v1/threads",
        "/v1/threads/runs",
        "/v1/threads/t_1/runs",
        "/v1/threads/t_1/messages",
        "/v1/threads/t_1/runs/r_1/submit_tool_outputs",
    ] {
        check(path, Unscored::Threads);
    }
    for path in ["/v1/batches", "/v1/messages/batches", "/v1beta/models/g:batchGenerateContent"] {
        check(path, Unscored::Batch);
    }
}

#[test]
fn unknown_path_is_decided_by_the_body() {
    for path in ["", "/", "/v1/chat", "/v1/xchat/completions/x", "/proxy/ask", "/v1/responses/resp_1/cancel"] {
        assert_eq!(PathKind::of(Format::Openai, &Method::POST, path), PathKind::Unknown, "{path}");
    }
}

#[test]
fn a_model_is_found_in_odd_spellings() {
    let of = |path| Endpoint::of(Format::Gemini, &Method::POST, path).and_then(|it| it.model);
    assert_eq!(of("/v1beta%2fmodels%2fG-3%3agenerateContent;x=a:b//"), Some("G-3"));
    assert_eq!(of("/model/anthropic.claude-v1%3A0/converse"), Some("anthropic.claude-v1%3A0"));
}
