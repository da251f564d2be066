//! Invalid requests.

use super::{BODY, CHAT, chat, request, send, statuses};
use crate::support::{ServerBuilder, provider, requests};

const CHUNKED: &str = "transfer-encoding: chunked\r\n";

#[tokio::test]
async fn ambiguous_framing_never_becomes_two_requests() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    let smuggled = format!("POST {CHAT} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n");
    let keep_alive = |headers: &str, body: &str| {
        format!("POST {CHAT} HTTP/1.1\r\nhost: localhost\r\n{headers}\r\n{body}{smuggled}").into_bytes()
    };
    let post = |headers: &str, body: &str| request(&format!("POST {CHAT}"), headers, body);
    let check = async |name: &str, bytes: Vec<u8>, status: u16, forwarded: u64| {
        let before = requests(&provider);
        assert_eq!(statuses(&send(&server.proxy, &bytes).await), [status], "{name}");
        assert_eq!(requests(&provider) - before, forwarded, "{name}");
    };
    // A length beside chunks is ignored, and the connection ends with the answer (RFC 9112, 6.3).
    check("length, then chunks", keep_alive(&format!("content-length: 4\r\n{CHUNKED}"), "0\r\n\r\n"), 200, 1).await;
    check("chunks, then length", keep_alive(&format!("{CHUNKED}content-length: 4\r\n"), "0\r\n\r\n"), 200, 1).await;
    for length in ["+5", "0x10", "", "-1", "5, 5", "5\r\ncontent-length: 6", "99999999999999999999999"] {
        check(length, keep_alive(&format!("content-length: {length}\r\n"), "hello"), 400, 0).await;
    }
    let chunks =
        ["5\nhello\r\n0\r\n\r\n", "5\r\nhello\n0\r\n\r\n", "0x5\r\nhello\r\n0\r\n\r\n", "5;a\nb\r\nhello\r\n0\r\n\r\n"];
    for body in chunks.into_iter().chain(["FFFFFFFFFFFFFFFF0\r\nhello\r\n0\r\n\r\n", "-1\r\nhello\r\n0\r\n\r\n"]) {
        check(body, post(CHUNKED, body), 400, 0).await;
    }
    for coding in ["identity", "xchunked", "chunked, identity"] {
        check(coding, post(&format!("transfer-encoding: {coding}\r\n"), BODY), 400, 0).await;
    }
    check("gzip, chunked", post("transfer-encoding: gzip, chunked\r\n", "0\r\n\r\n"), 501, 0).await;
    check("space before the colon", chat("x-name : value\r\n", BODY), 400, 0).await;
    check("folded header", chat("x-name: a\r\n b\r\n", BODY), 400, 0).await;
    check("NUL in a header", chat("x-name: a\0b\r\n", BODY), 400, 0).await;
}

#[tokio::test]
async fn heads_that_are_too_large_are_refused() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    let one = format!("x-large: {}\r\n", "y".repeat(70_000));
    let many: String = (0..90).map(|number| format!("x-{number}: {}\r\n", "y".repeat(780))).collect();
    for headers in [one, many] {
        assert_eq!(statuses(&send(&server.proxy, &chat(&headers, BODY)).await), [431]);
    }
    assert_eq!(requests(&provider), 0);
}

#[tokio::test]
async fn unusual_requests_are_answered_once_each() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    let get = |path: &str, headers: &str| request(&format!("GET {path}"), headers, "");
    let post = |path: &str| request(&format!("POST {path}"), &format!("content-length: {}\r\n", BODY.len()), BODY);
    let old = format!("POST {CHAT} HTTP/1.0\r\nhost: localhost\r\ncontent-length: {}\r\n\r\n{BODY}", BODY.len());
    let first = format!("POST {CHAT} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n\r\n{BODY}", BODY.len());
    let pipelined = [first.as_bytes(), &chat("", BODY)].concat();
    let models = "/agents/bot/openai/v1/models";
    let websocket = "upgrade: websocket\r\nconnection: upgrade\r\n";
    let cases: [(&str, Vec<u8>, &[u16], u64); 12] = [
        ("HTTP/1.0", old.into_bytes(), &[200], 1),
        ("pipelined", pipelined, &[200, 200], 2),
        ("expect", chat("expect: 100-continue\r\n", BODY), &[100, 200], 1),
        ("HEAD", request(&format!("HEAD {models}"), "", ""), &[200], 1),
        ("GET without a body", get(models, ""), &[200], 1),
        ("unknown path", get("/v1/models", ""), &[404], 0),
        ("unknown provider", post("/agents/bot/nobody/v1/chat/completions"), &[404], 0),
        ("encoded name", post("/agents/te%61m%3Abot/openai/v1/chat/completions"), &[200], 1),
        ("slash in a name", post("/agents/a%2Fb/openai/v1/chat/completions"), &[400], 0),
        ("dots for a name", get("/agents/../openai/v1/models", ""), &[400], 0),
        ("WebSocket", get("/agents/bot/openai/v1/realtime", websocket), &[426], 0),
        ("tunnel", request("CONNECT evil.test:443", "", ""), &[421], 0),
    ];
    for (name, bytes, expected, forwarded) in cases {
        let before = requests(&provider);
        assert_eq!(statuses(&send(&server.proxy, &bytes).await), expected, "{name}");
        assert_eq!(requests(&provider) - before, forwarded, "{name}");
    }
    assert_eq!(server.get("/api/agents/team:bot").await["active"], true);
}

#[tokio::test]
async fn dot_segments_never_reach_the_provider() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    for path in ["/v1/../%2e%2e//etc/passwd", "/../x", "/v1/..\\..\\x", "/v1/%2e%2e%2fx", "/v1/..;/x", "/v1/.%252e/x"] {
        let get = request(&format!("GET /agents/bot/openai{path}"), "", "");
        assert_eq!(statuses(&send(&server.proxy, &get).await), [400], "{path}");
    }
    assert_eq!(requests(&provider), 0);
    let get = request("GET /agents/bot/openai//v1/a..b/.x?a=../b", "", "");
    assert_eq!(statuses(&send(&server.proxy, &get).await), [200]);
    assert_eq!(provider.seen().last().unwrap().uri, "//v1/a..b/.x?a=../b");
}

/// Requests of pages, and requests that only look like it, byte by byte.
#[tokio::test]
async fn requests_of_pages_are_refused_and_leave_nothing_behind() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).arguments(&["--allow-origin", "https://app.example"]).start();
    let websocket = "Upgrade: websocket\r\nConnection: Upgrade\r\nOrigin: https://evil.test\r\n";
    for headers in [
        "Origin: https://evil.test\r\n",
        "ORIGIN: https://evil.test\r\n",
        "oRiGiN:https://evil.test\r\n",
        "origin:    null   \r\n",
        "origin:\r\n",
        "origin: https://app.example\r\norigin: https://evil.test\r\n",
        "origin: https://evil.test\r\norigin: https://app.example\r\n",
        "origin: https://app.example, https://evil.test\r\n",
        "origin: https://app.example:443\r\n",
        "origin: https://app.example.\r\n",
        "origin: https://user@app.example\r\n",
        "origin: https://app.example/\r\n",
        "origin: \u{e9}\r\n",
        "Sec-Fetch-Site: cross-site\r\n",
        "sec-fetch-site: same-site\r\nsec-fetch-mode: no-cors\r\nsec-fetch-dest: image\r\n",
        "sec-fetch-site: CROSS-SITE\r\n",
        "sec-fetch-site: unknown\r\n",
        "sec-fetch-site: none\r\nsec-fetch-site: cross-site\r\n",
        "sec-fetch-site: none\r\nsec-fetch-mode: navigate\r\nsec-fetch-dest: document\r\n",
        "sec-fetch-site: none\r\nsec-fetch-mode: navigate\r\nsec-purpose: prefetch\r\n",
        websocket,
    ] {
        for line in [format!("POST {CHAT}"), "GET /agents/bot/openai/v1/models".to_owned(), format!("OPTIONS {CHAT}")] {
            let answer = send(&server.proxy, &request(&line, headers, "")).await;
            assert_eq!(statuses(&answer), [403], "{line} {headers}");
            assert!(!answer.contains("access-control-allow-origin"), "{answer}");
        }
    }
    let preflight = "Origin: https://evil.test\r\nAccess-Control-Request-Method: POST\r\n";
    assert_eq!(statuses(&send(&server.proxy, &request(&format!("OPTIONS {CHAT}"), preflight, "")).await), [403]);
    assert_eq!(requests(&provider), 0);
    assert_eq!(server.get("/api/agents").await["items"], serde_json::json!([]));
    assert_eq!(server.get("/api/events").await["items"], serde_json::json!([]));
    // The refusals count for no agent, and the allowed page is not affected.
    let allowed = chat("origin: https://app.example\r\nsec-fetch-site: cross-site\r\n", BODY);
    assert_eq!(statuses(&send(&server.proxy, &allowed).await), [200]);
}

#[tokio::test]
async fn foreign_hosts_and_foreign_pages_are_refused() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    let evil = "GET /agents/bot/openai/v1/models HTTP/1.1\r\nhost: evil.test\r\nconnection: close\r\n\r\n";
    let none = "GET /agents/bot/openai/v1/models HTTP/1.1\r\nconnection: close\r\n\r\n";
    for url in [&server.proxy, &server.dashboard] {
        assert_eq!(statuses(&send(url, evil.as_bytes()).await), [421]);
        assert_eq!(statuses(&send(url, none.as_bytes()).await), [421]);
        assert_eq!(statuses(&send(url, &request("GET /", "host: evil.test\r\n", "")).await), [421], "two hosts");
    }
    let change = r#"{"active":false}"#;
    let headers = format!(
        "authorization: Bearer integration-test-token\r\norigin: http://evil.test\r\nsec-fetch-site: cross-site\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n",
        change.len()
    );
    let forged = request("PATCH /api/agents/bot", &headers, change);
    assert_eq!(statuses(&send(&server.dashboard, &forged).await), [403]);
    assert_eq!(requests(&provider), 0);
}
