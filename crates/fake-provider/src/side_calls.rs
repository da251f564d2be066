//! Answers calls that carry no conversation: lists of models, embeddings and token counts.

use http::request::Parts;
use http::{HeaderMap, Method};
use serde_json::{Value, json};

/// The answer to a known side call.
pub(crate) fn answer(request: &Parts, body: &[u8]) -> Option<Value> {
    let path = request.uri.path();
    let (before, name) = path.rsplit_once('/')?;
    // Gemini writes `models/{model}:{what}`.
    let what = name.rsplit_once(':').map_or(name, |(_, what)| what);
    let tokens = body.len() / 4;
    Some(match (&request.method, what) {
        (&Method::GET, "models") => models(&request.headers),
        (&Method::GET, "tags") => json!({"models": [ollama_model()]}),
        (&Method::GET, "version") => json!({"version": env!("CARGO_PKG_VERSION")}),
        (&Method::POST, "show") => ollama_details(),
        (&Method::POST, "embeddings") if before.ends_with("/api") => json!({"embedding": VECTOR}),
        (&Method::POST, "embeddings") => openai_vectors(&serde_json::from_slice(body).ok()?, tokens),
        (&Method::POST, "embed") => json!({"model": MODEL, "embeddings": [VECTOR], "prompt_eval_count": tokens}),
        (&Method::POST, "embedContent") => json!({"embedding": {"values": VECTOR}}),
        (&Method::POST, "batchEmbedContents") => json!({"embeddings": [{"values": VECTOR}]}),
        (&Method::POST, "count_tokens") => json!({"input_tokens": tokens}),
        (&Method::POST, "input_tokens") => json!({"object": "response.input_tokens", "input_tokens": tokens}),
        (&Method::POST, "countTokens") => json!({"totalTokens": tokens}),
        _ => return None,
    })
}

const MODEL: &str = "built-in";

/// The embedding of every text.
const VECTOR: [f32; 4] = [0.5; 4];
/// The same as little-endian floats in Base64, which OpenAI's SDKs request.
const VECTOR_IN_BASE64: &str = "AAAAPwAAAD8AAAA/AAAAPw==";

/// The path is the same in all formats; the headers identify the client.
fn models(headers: &HeaderMap) -> Value {
    if headers.contains_key("x-goog-api-key") {
        let methods = ["generateContent", "countTokens"];
        return json!({"models": [{"name": "models/built-in", "supportedGenerationMethods": methods}]});
    }
    if headers.contains_key("anthropic-version") {
        let model =
            json!({"type": "model", "id": MODEL, "display_name": "Built-in", "created_at": "2024-01-01T00:00:00Z"});
        return json!({"data": [model], "has_more": false, "first_id": MODEL, "last_id": MODEL});
    }
    let model = json!({"id": MODEL, "object": "model", "created": 1_700_000_000, "owned_by": "agentgazer"});
    json!({"object": "list", "data": [model]})
}

fn ollama_model() -> Value {
    let details = json!({"format": "gguf", "family": MODEL, "parameter_size": "0B", "quantization_level": "F32"});
    json!({
        "name": MODEL,
        "model": MODEL,
        "modified_at": "2024-01-01T00:00:00Z",
        "size": 0,
        "digest": "0".repeat(64),
        "details": details,
    })
}

fn ollama_details() -> Value {
    let model = ollama_model();
    json!({
        "modified_at": model["modified_at"],
        "details": model["details"],
        "model_info": {"general.architecture": MODEL},
        "capabilities": ["completion", "tools"],
    })
}

/// One vector for each input, in the requested encoding.
fn openai_vectors(asked: &Value, tokens: usize) -> Value {
    let vector = if asked["encoding_format"] == "base64" { json!(VECTOR_IN_BASE64) } else { json!(VECTOR) };
    let count = asked["input"].as_array().map_or(1, Vec::len);
    let data: Vec<Value> =
        (0..count).map(|index| json!({"object": "embedding", "index": index, "embedding": vector})).collect();
    let usage = json!({"prompt_tokens": tokens, "total_tokens": tokens});
    json!({"object": "list", "data": data, "model": MODEL, "usage": usage})
}
