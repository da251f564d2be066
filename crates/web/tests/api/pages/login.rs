//! The dashboard: logging in, and what the pages say.

use axum::body::Body;
use axum::http::{Method, StatusCode};

use crate::server::{Answer, Server, TOKEN, form, request};

async fn page(server: &Server, cookie: &str, path: &str) -> Answer {
    server.send(request(Method::GET, path).header("cookie", cookie).body(Body::empty()).unwrap()).await
}

#[tokio::test]
async fn without_a_session_every_page_leads_to_the_login() {
    let server = Server::start().await;
    for (path, target) in [
        ("/", "/login"),
        ("/incidents/abc", "/login?next=/incidents/abc"),
        ("/nowhere", "/login?next=/nowhere"),
        ("/a%0d%0ab", "/login"),
    ] {
        let answer = page(&server, "", path).await;
        assert_eq!((answer.status, answer.header("location")), (StatusCode::SEE_OTHER, target), "{path}");
    }
}

#[tokio::test]
async fn a_session_opens_with_the_token_and_ends_with_the_logout() {
    let server = Server::start().await;
    let login = server.send(form("/login", &format!("token={TOKEN}&next=/incidents/abc"))).await;
    assert_eq!((login.status, login.header("location")), (StatusCode::SEE_OTHER, "/incidents/abc"));
    let cookie = login.header("set-cookie");
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");

    let cookie = server.log_in().await;
    assert_eq!(page(&server, &cookie, "/").await.status, StatusCode::OK);
    assert_eq!(page(&server, &cookie, "/api/agents").await.status, StatusCode::OK);
    let logout = request(Method::POST, "/logout").header("cookie", &cookie).body(Body::empty()).unwrap();
    assert_eq!(server.send(logout).await.header("location"), "/login");
    assert_eq!(page(&server, &cookie, "/").await.status, StatusCode::SEE_OTHER);

    let cookie = server.log_in().await;
    server.web.clock.advance(7 * 24 * 60 * 60 * 1000);
    assert_eq!(page(&server, &cookie, "/").await.status, StatusCode::SEE_OTHER, "after seven days");
}

#[tokio::test]
async fn wrong_tokens_are_limited_and_lead_nowhere() {
    let server = Server::start().await;
    for _ in 0..10 {
        let answer = server.send(form("/login", "token=wrong&next=https://evil.test")).await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
        assert!(!answer.text.contains("evil"), "{}", answer.text);
    }
    let answer = server.send(form("/login", &format!("token={TOKEN}"))).await;
    assert_eq!((answer.status, answer.header("retry-after")), (StatusCode::TOO_MANY_REQUESTS, "6"));
    server.web.clock.advance(6_000);
    server.log_in().await;
}

/// Seeds: “Display deactivation reason in dashboard”, “Display manual deactivation in dashboard”.
#[tokio::test]
async fn display_deactivation_reason_in_dashboard() {
    let server = Server::start().await;
    let cookie = server.log_in().await;
    assert!(page(&server, &cookie, "/").await.text.contains("No agents yet."));

    server.kill("import-fixer").await;
    for name in ["healthy", "resting"] {
        server.put(&format!("/api/agents/{name}/kill-switch"), serde_json::json!({})).await;
    }
    server.patch("/api/agents/resting", serde_json::json!({"active": false})).await;
    let text = page(&server, &cookie, "/").await.text;
    assert!(text.contains("1 of 3 agents are stopped."), "{text}");
    for badge in ["killed\">Deactivated by Kill Switch<", "inactive\">Inactive<", "active\">Active<"] {
        assert!(text.contains(badge), "{badge}: {text}");
    }
    assert!(text.contains("7.0 / 5") && text.contains("P=3 R=2 T=0"), "{text}");
}

#[tokio::test]
async fn an_incident_shows_its_score_and_its_evidence_as_text() {
    let server = Server::start().await;
    let cookie = server.log_in().await;
    let incident = server.kill("import-fixer").await;
    let answer = page(&server, &cookie, &format!("/incidents/{incident}")).await;
    assert!(answer.text.contains("Loop score 7.0 / 5 (140 %)"), "{}", answer.text);
    assert!(!answer.text.contains("<script>alert"), "{}", answer.text);
    assert!(answer.text.contains("alert(&#39;import&#39;)"), "{}", answer.text);

    let policy = answer.header("content-security-policy");
    assert!(policy.contains("script-src 'self'") && !policy.contains("unsafe"), "{policy}");
    assert_eq!(page(&server, &cookie, "/incidents/none").await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn no_page_has_inline_script_or_style_and_every_file_it_names_is_there() {
    let server = Server::start().await;
    let cookie = server.log_in().await;
    let incident = server.kill("import-fixer").await;
    for path in ["/", "/login", "/nowhere", &format!("/incidents/{incident}")] {
        let text = page(&server, &cookie, path).await.text;
        for inline in [" style=", "<style", " onclick=", " onload=", "<script>", "javascript:"] {
            assert!(!text.contains(inline), "{path}: {inline}");
        }
        for file in text.split('"').filter(|part| part.starts_with("/static/")) {
            let answer = server.send(request(Method::GET, file).body(Body::empty()).unwrap()).await;
            assert_eq!(answer.status, StatusCode::OK, "{file}");
            assert!(answer.header("cache-control").contains("immutable"), "{file}");
        }
    }
}

#[test]
fn no_template_turns_the_escaping_off() {
    for template in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/templates")).unwrap() {
        let path = template.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!text.contains("safe") && !text.contains("escape"), "{}", path.display());
    }
}
