//! Answers clients that use the dashboard's port instead of the proxy's: an error in a form that
//! every SDK shows says where the proxy is.

use axum::Json;
use axum::extract::{Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use crate::app::App;

/// Answers calls that were meant for the proxy. It stands before the check of tokens, so that the
/// provider key of a mistaken client does not count as a wrong token.
pub(crate) async fn point_to_proxy(State(app): State<App>, request: Request, next: Next) -> Response {
    if !is_for_proxy(request.method(), request.uri(), request.headers()) {
        return next.run(request).await;
    }
    (StatusCode::NOT_FOUND, Json(error(&app.web().proxy_url, request.uri().path()))).into_response()
}

/// What Ollama's clients call. Our own API has none of these.
const OLLAMA: [&str; 5] = ["/api/chat", "/api/generate", "/api/tags", "/api/embed", "/api/show"];

/// Whether it is a call of an SDK: `/agents/{agent}/{provider}/…`, or a path of a provider such as
/// `/v1/chat/completions`. The dashboard's own forms send no JSON, and it has no page that deep.
fn is_for_proxy(method: &Method, uri: &Uri, headers: &HeaderMap) -> bool {
    let is_json = || headers.get(CONTENT_TYPE).is_some_and(|it| it.as_bytes().starts_with(b"application/json"));
    let path = uri.path();
    if let Some(rest) = path.strip_prefix("/agents/") {
        return rest.split('/').count() >= 3 && (method == Method::GET || is_json());
    }
    let sends_json = method == Method::POST && is_json() && !path.starts_with("/api/");
    sends_json || OLLAMA.contains(&path) || method == Method::GET && path.starts_with("/v1/")
}

/// The error in the shape of OpenAI's and Anthropic's at once.
fn error(proxy_url: &str, path: &str) -> Value {
    // Without an agent in the path, the address to set is what the client needs.
    let path = match path {
        path if path.starts_with("/agents/") => path,
        path if path.starts_with("/v1/messages") => "/agents/my-agent/anthropic",
        path if OLLAMA.contains(&path) => "/agents/my-agent/ollama",
        _ => "/agents/my-agent/openai/v1",
    };
    let message = format!("This is AgentGazer's dashboard, not its proxy. Send calls to {proxy_url}{path}");
    json!({"type": "error", "error": {"type": "not_the_proxy", "code": "not_the_proxy", "message": message}})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_for_the_proxy_are_distinguished_from_pages_and_forms() {
        let check = |method: Method, path: &'static str, content_type: &'static str, expected: bool| {
            let headers =
                HeaderMap::from_iter([(CONTENT_TYPE, content_type.parse().unwrap_or_else(|_| unreachable!()))]);
            assert_eq!(is_for_proxy(&method, &Uri::from_static(path), &headers), expected, "{method} {path}");
        };
        check(Method::POST, "/agents/a/openai/v1/chat/completions", "application/json; charset=utf-8", true);
        check(Method::POST, "/agents/a/anthropic/v1/messages", "application/json", true);
        check(Method::GET, "/agents/a/openai/v1/models", "", true);
        check(Method::POST, "/v1/chat/completions", "application/json", true);
        check(Method::POST, "/openai/v1/responses", "application/json", true);
        check(Method::GET, "/v1/models", "", true);
        check(Method::POST, "/api/chat", "", true);
        check(Method::GET, "/api/tags", "", true);
        check(Method::GET, "/agents/a", "", false);
        check(Method::POST, "/login", "application/x-www-form-urlencoded", false);
        check(Method::GET, "/requests", "", false);
        check(Method::POST, "/agents/a/policy/reset", "application/x-www-form-urlencoded", false);
        check(Method::POST, "/agents/a/activate", "application/json", false);
        check(Method::POST, "/api/agents/a/b/c", "application/json", false);
    }

    #[test]
    fn error_names_the_address_for_this_client() {
        let address = |path: &str| {
            let message = error("http://proxy", path)["error"]["message"].as_str().unwrap_or_default().to_owned();
            message.rsplit_once(' ').map(|(_, address)| address.to_owned()).unwrap_or_default()
        };
        assert_eq!(address("/agents/a/openai/v1/models"), "http://proxy/agents/a/openai/v1/models");
        assert_eq!(address("/v1/chat/completions"), "http://proxy/agents/my-agent/openai/v1");
        assert_eq!(address("/v1/messages"), "http://proxy/agents/my-agent/anthropic");
        assert_eq!(address("/api/chat"), "http://proxy/agents/my-agent/ollama");
    }
}
