//! Web pages: those of foreign origins cannot use the proxy, those of allowed origins can as
//! programs do.

use http::{Method, Request, StatusCode};
use http_body_util::Full;
use model::{Action, AgentId, Format, KillSwitch, Provider};
use proxy::{Origin, ProxyConfig};

use crate::provider::{FakeProvider, chat_answer, whole};
use crate::test_proxy::{CHAT, PROMPT, TestProxy, config, enabled_kill_switch, json, post, question};

fn allowing(origin: &str) -> ProxyConfig {
    ProxyConfig { allow_origins: vec![Origin::parse(origin).unwrap()], ..config() }
}

fn from_page(path: &str, lines: &[(&'static str, &'static str)]) -> Request<Full<bytes::Bytes>> {
    let mut request = post(path, question(PROMPT));
    for (name, value) in lines {
        request.headers_mut().append(*name, value.parse().unwrap());
    }
    request
}

#[tokio::test]
async fn foreign_pages_create_and_kill_no_agent() {
    let provider = FakeProvider::sending(chat_answer("hi")).await;
    let mut proxy = TestProxy::with(&provider, config(), enabled_kill_switch(Action::Deactivate)).await;
    let mut stored = Provider::new("openai", &format!("http://{}", provider.address), Format::Openai).unwrap();
    stored.key = Some("sk-stored".into());
    proxy.providers.put(stored);
    for lines in [
        &[("origin", "https://evil.test"), ("sec-fetch-site", "cross-site")][..],
        &[("origin", "null")],
        &[("sec-fetch-site", "same-site")],
        &[("origin", "https://evil.test"), ("upgrade", "websocket"), ("connection", "upgrade")],
    ] {
        for _ in 0..10 {
            let refused = proxy.call(from_page(CHAT, lines)).await;
            assert_eq!(refused.status(), StatusCode::FORBIDDEN, "{lines:?}");
            assert_eq!(json(&refused)["error"]["code"], "request_refused");
            assert!(!refused.headers().contains_key("access-control-allow-origin"));
        }
    }
    assert_eq!(provider.calls(), 0);
    assert!(proxy.guard.agent(&AgentId::parse("bot").unwrap()).is_none());
    // The first event is that of a program's call: refused requests made none.
    assert_eq!(proxy.ask(PROMPT).await.status(), StatusCode::OK);
    assert_eq!(proxy.event().await.status, Some(200));
}

#[tokio::test]
async fn a_foreign_page_is_refused_in_the_format_of_the_endpoint() {
    let provider = FakeProvider::sending(chat_answer("hi")).await;
    let proxy = TestProxy::new(&provider).await;
    let lines = [("origin", "https://evil.test")];
    let anthropic = json(&proxy.call(from_page("/agents/bot/anthropic/v1/messages", &lines)).await);
    assert_eq!((&anthropic["type"], &anthropic["error"]["type"]), (&"error".into(), &"permission_error".into()));
    let gemini = json(&proxy.call(from_page("/agents/bot/google/v1beta/models/m:generateContent", &lines)).await);
    assert_eq!(gemini["error"]["status"], "PERMISSION_DENIED");
    let nowhere = proxy.call(from_page("/", &lines)).await;
    assert_eq!(nowhere.status(), StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn allowed_page_sends_a_preflight_and_reads_answers() {
    let head = "HTTP/1.1 200 OK\r\naccess-control-allow-origin: https://provider.test\r\nvary: accept\r\n";
    let provider = FakeProvider::sending(format!("{head}content-length: 2\r\n\r\n{{}}")).await;
    let mut proxy = TestProxy::with(&provider, allowing("https://app.example"), KillSwitch::default()).await;
    let preflight = Request::builder()
        .method(Method::OPTIONS)
        .uri(CHAT)
        .header("host", "localhost")
        .header("origin", "https://app.example")
        .header("access-control-request-method", "POST")
        .header("access-control-request-headers", "authorization,content-type,x-stainless-lang")
        .header("access-control-request-private-network", "true");
    let answer = proxy.call(preflight.body(Full::default()).unwrap()).await;
    assert_eq!(answer.status(), StatusCode::NO_CONTENT);
    let header = |name: &str| answer.headers()[name].to_str().unwrap().to_owned();
    assert_eq!(header("access-control-allow-origin"), "https://app.example");
    assert!(header("access-control-allow-methods").contains("POST"));
    assert_eq!(header("access-control-allow-headers"), "authorization,content-type,x-stainless-lang");
    assert_eq!(header("access-control-allow-private-network"), "true");
    assert_eq!(provider.calls(), 0);

    let lines = [("origin", "https://app.example"), ("sec-fetch-site", "cross-site")];
    let answer = proxy.call(from_page(CHAT, &lines)).await;
    assert_eq!(answer.status(), StatusCode::OK);
    let origins: Vec<_> = answer.headers().get_all("access-control-allow-origin").iter().collect();
    assert_eq!(origins, ["https://app.example"]);
    assert_eq!(answer.headers().get_all("vary").iter().collect::<Vec<_>>(), ["accept", "origin"]);
    assert_eq!(proxy.event().await.status, Some(200), "the preflight made no event");

    let refused = proxy.call(from_page("/agents/bot/nobody/v1/chat/completions", &lines)).await;
    assert_eq!(refused.status(), StatusCode::NOT_FOUND);
    assert_eq!(refused.headers()["access-control-allow-origin"], "https://app.example");
    let other = proxy.call(from_page(CHAT, &[("origin", "https://other.example")])).await;
    assert_eq!(other.status(), StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn trace_is_never_forwarded() {
    let provider = FakeProvider::sending(whole("200 OK", "message/http", "TRACE")).await;
    let proxy = TestProxy::new(&provider).await;
    for method in ["TRACE", "trace", "TRACK", "CONNECT"] {
        let request = Request::builder().method(method).uri("/agents/bot/anthropic/v1/messages");
        let answer = proxy.call(request.header("host", "localhost").body(Full::default()).unwrap()).await;
        assert_eq!(answer.status(), StatusCode::METHOD_NOT_ALLOWED, "{method}");
        assert!(answer.headers()["allow"].to_str().unwrap().contains("POST"));
    }
    assert_eq!(provider.calls(), 0);
    assert!(proxy.guard.agent(&AgentId::parse("bot").unwrap()).is_none());
}

#[tokio::test]
async fn dot_segments_are_refused() {
    let provider = FakeProvider::sending(whole("200 OK", "application/json", "{}")).await;
    let proxy = TestProxy::new(&provider).await;
    for path in ["/../admin", "/v1/%2e%2E/x", "/v1/.%2e/x", "/v1%2f..%2fx", "/v1/..%5cx", "/..", "/v1/%252e%252e/x"] {
        let request = Request::get(format!("/agents/bot/anthropic{path}")).header("host", "localhost");
        let answer = proxy.call(request.body(Full::default()).unwrap()).await;
        assert_eq!(answer.status(), StatusCode::BAD_REQUEST, "{path}");
        assert_eq!(json(&answer)["type"], "error", "{path}");
    }
    assert_eq!(provider.calls(), 0);
}

#[tokio::test]
async fn headers_of_the_proxy_are_dropped_from_answers() {
    let head = "HTTP/1.1 200 OK\r\nx-agentgazer-blocked: inactive\r\nX-AgentGazer-Incident: 1\r\nx-other: 1\r\n";
    let trailer = "transfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\nx-agentgazer-blocked: x\r\nx-sum: 7\r\n\r\n";
    let provider = FakeProvider::sending(format!("{head}trailer: x-sum\r\n{trailer}")).await;
    let proxy = TestProxy::new(&provider).await;
    let mut request = post("/agents/bot/openai/v1/files", "{}");
    request.headers_mut().insert("te", "trailers".parse().unwrap());
    let (head, body) = proxy.begin(request).await.into_parts();
    assert_eq!(head.headers["x-other"], "1");
    for name in ["x-agentgazer-blocked", "x-agentgazer-incident"] {
        assert!(!head.headers.contains_key(name), "{name}");
    }
    let trailers = http_body_util::BodyExt::collect(body).await.unwrap().trailers().cloned().unwrap();
    assert!(trailers.contains_key("x-sum") && !trailers.contains_key("x-agentgazer-blocked"), "{trailers:?}");
}
