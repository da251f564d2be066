//! Access: which callers are accepted, and from which origins.

use axum::body::Body;
use axum::http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::description::operations;
use crate::server::{Server, TOKEN, form, request};

#[tokio::test]
async fn anonymous_callers_get_401_everywhere_but_for_health() {
    let server = Server::start().await;
    let mut bodies = Vec::new();
    for (method, path) in operations() {
        let answer = server.send(request(method.clone(), &path).body(Body::empty()).unwrap()).await;
        if ["/healthz", "/readyz"].contains(&path.as_str()) {
            assert_eq!(answer.status, StatusCode::OK, "{method} {path}");
            continue;
        }
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{method} {path}");
        assert!(answer.header("www-authenticate").starts_with("Bearer"), "{method} {path}");
        bodies.push(answer.text);
    }
    bodies.dedup();
    assert_eq!(bodies.len(), 1, "one constant body");
}

#[tokio::test]
async fn token_opens_every_route() {
    // One of the operations replaces the token, if it can.
    let server = Server::with_token(control::Token::configured(TOKEN)).await;
    for (method, path) in operations() {
        let request = request(method.clone(), &path).header("authorization", format!("bearer {TOKEN}"));
        let response = server.open(request.body(Body::empty()).unwrap()).await;
        assert!(![401, 403, 405, 421, 500].contains(&response.status().as_u16()), "{method} {path}: {response:?}");
    }
}

#[tokio::test]
async fn a_wrong_credential_is_refused_and_not_repeated() {
    let server = Server::start().await;
    let cookie = server.log_in().await;
    let longer = format!("Bearer {TOKEN}x");
    for credential in ["Bearer wrong", "Bearer ", "Bearer", "Basic Zm9v", TOKEN, &longer] {
        let asked = request(Method::GET, "/api/agents").header("authorization", credential).header("cookie", &cookie);
        let answer = server.send(asked.body(Body::empty()).unwrap()).await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{credential}");
        assert!(!answer.text.contains("wrong"));
    }
    for cookie in ["agentgazer_session=", "agentgazer_session=guess", "other=1"] {
        let asked = request(Method::GET, "/api/agents").header("cookie", cookie);
        assert_eq!(server.send(asked.body(Body::empty()).unwrap()).await.status, StatusCode::UNAUTHORIZED, "{cookie}");
    }
}

#[tokio::test]
async fn wrong_bearer_tokens_are_limited_and_the_right_one_is_not() {
    let server = Server::start().await;
    let ask = async |path: &str, credential: Option<&str>| {
        let mut asked = request(Method::GET, path);
        if let Some(credential) = credential {
            asked = asked.header("authorization", credential);
        }
        server.send(asked.body(Body::empty()).unwrap()).await
    };
    for number in 0..10 {
        let answer = ask("/api/agents", Some(&format!("Bearer guess-{number}"))).await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
    }
    for path in ["/api/agents", "/api/stream", "/", "/settings", "/api/nothing"] {
        let answer = ask(path, Some("Bearer guess")).await;
        assert_eq!((answer.status, answer.header("retry-after")), (StatusCode::TOO_MANY_REQUESTS, "6"), "{path}");
        assert_eq!(answer.json()["code"], "too_many_guesses");
    }
    assert_eq!(ask("/api/agents", Some(&format!("Bearer {TOKEN}"))).await.status, StatusCode::OK);
    assert_eq!(ask("/api/agents", None).await.status, StatusCode::UNAUTHORIZED, "no token is no guess");
    assert_eq!(ask("/healthz", Some("Bearer guess")).await.status, StatusCode::OK);
    assert_eq!(server.send(form("/login", "token=wrong")).await.status, StatusCode::TOO_MANY_REQUESTS);
    server.log_in().await;
}

#[tokio::test]
async fn a_client_is_authenticated_once_it_shows_the_token_or_a_session() {
    let server = Server::start().await;
    let cookie = server.log_in().await;
    let authenticated = async |mut request: axum::http::Request<Body>| {
        let client = web::Client::new([192, 0, 2, 1].into());
        request.extensions_mut().insert(client.clone());
        server.send(request).await;
        client.is_authenticated()
    };
    let with =
        |name: &str, value: &str| request(Method::GET, "/api/agents").header(name, value).body(Body::empty()).unwrap();
    assert!(authenticated(with("authorization", &format!("Bearer {TOKEN}"))).await);
    assert!(authenticated(with("cookie", &cookie)).await);
    assert!(authenticated(form("/login", &format!("token={TOKEN}"))).await);
    assert!(!authenticated(with("authorization", "Bearer guess")).await);
    assert!(!authenticated(with("cookie", "agentgazer_session=guess")).await);
    assert!(!authenticated(form("/login", "token=wrong")).await);
    assert!(!authenticated(request(Method::GET, "/healthz").body(Body::empty()).unwrap()).await);
}

#[tokio::test]
async fn foreign_host_is_refused() {
    let server = Server::start().await;
    for path in ["/healthz", "/api/agents", "/login", "/static/style.css", "/nowhere"] {
        for host in ["evil.test", "127.0.0.1.evil.test:18880", ""] {
            let asked = axum::http::Request::get(path).header("host", host);
            let asked = asked.header("authorization", format!("Bearer {TOKEN}"));
            let answer = server.send(asked.body(Body::empty()).unwrap()).await;
            assert_eq!(answer.status, StatusCode::MISDIRECTED_REQUEST, "{host} {path}");
            assert_eq!(answer.header("content-type"), "application/problem+json");
        }
    }
    let without = axum::http::Request::get("/healthz").body(Body::empty()).unwrap();
    assert_eq!(server.send(without).await.status, StatusCode::MISDIRECTED_REQUEST);
}

#[tokio::test]
async fn change_from_another_site_is_refused() {
    let server = Server::start().await;
    let cookie = server.log_in().await;
    for (header, value) in [
        ("origin", "http://evil.test"),
        ("origin", "null"),
        ("origin", "http://127.0.0.1:3000"),
        ("sec-fetch-site", "cross-site"),
    ] {
        let asked = request(Method::PUT, "/api/agents/a/kill-switch").header(header, value).header("cookie", &cookie);
        let asked = asked.header("content-type", "application/json").body(Body::from("{}")).unwrap();
        assert_eq!(server.send(asked).await.status, StatusCode::FORBIDDEN, "{header}: {value}");
    }
    assert_eq!(server.get("/api/agents/a").await.status, StatusCode::NOT_FOUND);

    let ours = request(Method::PUT, "/api/agents/a/kill-switch").header("origin", "http://127.0.0.1:18880");
    let ours = ours.header("cookie", &cookie).header("content-type", "application/json");
    assert_eq!(server.send(ours.body(Body::from("{}")).unwrap()).await.status, StatusCode::OK);
}

#[tokio::test]
async fn body_without_json_content_type_is_refused() {
    let server = Server::start().await;
    for content_type in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/jsonp"]
    {
        let asked = request(Method::PUT, "/api/agents/a/kill-switch").header("content-type", content_type);
        let asked = asked.header("authorization", format!("Bearer {TOKEN}")).body(Body::from("{}")).unwrap();
        assert_eq!(server.send(asked).await.status, StatusCode::UNSUPPORTED_MEDIA_TYPE, "{content_type}");
    }
    let without = server.ask(Method::PUT, "/api/agents/a/kill-switch", None).await;
    assert_eq!(without.status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
}

#[tokio::test]
async fn every_answer_has_security_headers() {
    let server = Server::start().await;
    for path in ["/healthz", "/api/agents", "/api/nothing", "/api/openapi.json"] {
        let answer = server.get(path).await;
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(answer.header("referrer-policy"), "no-referrer", "{path}");
        assert_eq!(answer.header("cache-control"), "no-store", "{path}");
        assert!(answer.header("content-security-policy").starts_with("default-src 'none'"), "{path}");
    }
}

#[tokio::test]
async fn unknown_route_is_a_problem_document() {
    let server = Server::start().await;
    let nothing = server.get("/api/nothing").await;
    assert_eq!((nothing.status, nothing.header("content-type")), (StatusCode::NOT_FOUND, "application/problem+json"));
    let method = server.ask(Method::POST, "/api/agents", Some(json!({}))).await;
    assert_eq!(method.status, StatusCode::METHOD_NOT_ALLOWED);
    let agent = server.get("/api/agents/nobody").await;
    assert_eq!((agent.status, &agent.json()["detail"]), (StatusCode::NOT_FOUND, &json!("There is no agent nobody.")));
}

#[tokio::test]
async fn readiness_goes_down_while_the_server_stops() {
    let server = Server::start().await;
    assert_eq!(server.json("/readyz").await, json!({"status": "ready"}));
    server.web.draining.store(true, std::sync::atomic::Ordering::Relaxed);
    let answer = server.get("/readyz").await;
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(answer.json()["reasons"], json!(["draining: the server is stopping"]));
    assert_eq!(server.get("/healthz").await.status, StatusCode::OK);
}

#[tokio::test]
async fn the_token_and_a_key_appear_in_no_answer() {
    let server = Server::start().await;
    let key = "sk-canary-9b7c";
    assert_eq!(server.put("/api/providers/openai", json!({"key": key})).await.status, StatusCode::OK);
    let incident = server.kill("looper").await;
    let mut seen = vec![server.send(form("/login", "token=wrong")).await.text];
    for (method, path) in operations() {
        if path == "/api/stream" || method == Method::DELETE {
            continue;
        }
        let path = path.replace("/incidents/none", &format!("/incidents/{incident}"));
        let body: Option<Value> = (method != Method::GET).then(|| json!({"key": [key], "token": TOKEN}));
        seen.push(server.ask(method, &path, body).await.text);
    }
    for path in ["/", "/login", "/nowhere"] {
        seen.push(server.get(path).await.text);
    }
    for text in seen {
        assert!(!text.contains(TOKEN) && !text.contains(key), "{text}");
    }
}
