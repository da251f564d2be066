//! The error that ends a stream whose provider failed, in the form that the dialect's SDKs read.

use serde_json::{Value, json};

use crate::Dialect;
use crate::refusal::openai_error;

/// The error as server-sent events. `response` is the response id of a stream of Responses.
pub(crate) fn events(dialect: Dialect, message: &str, response: Option<&str>) -> String {
    let error = object(dialect, message);
    match dialect {
        Dialect::ChatCompletions | Dialect::Completions => format!("data: {error}\n\ndata: [DONE]\n\n"),
        Dialect::Messages => format!("event: error\ndata: {error}\n\n"),
        Dialect::Gemini | Dialect::Ollama | Dialect::Converse => format!("data: {error}\n\n"),
        Dialect::Cohere => format!("event: message-end\ndata: {error}\n\n"),
        // Both, in this order: Codex acts on the first and OpenAI's SDKs raise the second. The AI
        // SDK would retry if the second came first.
        Dialect::Responses => {
            let failed = failed_response(message, response);
            format!("event: response.failed\ndata: {failed}\n\nevent: error\ndata: {error}\n\n")
        }
    }
}

/// The error as one JSON object.
pub(crate) fn object(dialect: Dialect, message: &str) -> Value {
    match dialect {
        Dialect::ChatCompletions | Dialect::Completions => json!({ "error": provider_failed(message) }),
        Dialect::Messages => json!({ "type": "error", "error": { "type": "api_error", "message": message } }),
        Dialect::Gemini => json!({ "error": { "code": 503, "message": message, "status": "UNAVAILABLE" } }),
        Dialect::Ollama => json!({ "error": message }),
        Dialect::Converse => json!({ "error": { "message": message } }),
        // The error is at the top as well, where every dialect's reader looks for it.
        Dialect::Cohere => json!({
            "type": "message-end",
            "delta": { "finish_reason": "ERROR", "error": message },
            "error": message,
        }),
        Dialect::Responses => json!({
            "type": "error",
            "code": "provider_failed",
            "message": message,
            "param": null,
            "sequence_number": AFTER_ALL + 1,
            "error": provider_failed(message),
        }),
    }
}

/// Higher than the number of any event before: those are not counted.
const AFTER_ALL: u32 = 1 << 30;

fn failed_response(message: &str, response: Option<&str>) -> Value {
    json!({
        "type": "response.failed",
        "sequence_number": AFTER_ALL,
        "response": {
            "id": response.unwrap_or("resp_unknown"),
            "object": "response",
            "status": "failed",
            "error": { "code": "server_error", "message": message },
            "output": [],
        },
    })
}

fn provider_failed(message: &str) -> Value {
    openai_error(message, "server_error", "provider_failed")
}
