//! What no page may ever do: run the text of an agent, load from elsewhere, or be changed by
//! another site.

use axum::body::Body;
use axum::http::{Method, StatusCode};
use model::{AgentId, CallId, Event, EventType};

use super::Browser;
use crate::server::{Server, request};

/// Pages with content, once `kill` has made an incident.
pub(super) const PAGES: [&str; 13] = [
    "/",
    "/agents",
    "/agents/import-fixer",
    "/incidents",
    "/incidents/{incident}",
    "/requests",
    "/requests/{call}",
    "/alerts",
    "/costs",
    "/settings",
    "/search",
    "/login",
    "/nowhere",
];

/// A server with one kill, and the paths of its pages.
pub(super) async fn with_a_kill() -> (Server, Vec<String>) {
    let server = Server::start().await;
    let incident = server.kill("import-fixer").await;
    let call = &server.json("/api/events?limit=1").await["items"][0]["id"];
    let call = call.as_str().unwrap();
    let paths = PAGES.map(|path| path.replace("{incident}", &incident.to_string()).replace("{call}", call));
    (server, paths.to_vec())
}

#[tokio::test]
async fn no_page_has_inline_script_or_style_and_every_file_it_names_is_there() {
    let (server, paths) = with_a_kill().await;
    let browser = Browser::new(&server).await;
    for path in paths {
        let answer = browser.get(&path).await;
        let inline = [" style=", "<style", " onclick=", " onload=", "<script>", "javascript:"];
        let elsewhere = [" src=\"http", " href=\"http", " action=\"http"];
        for part in inline.into_iter().chain(elsewhere) {
            assert!(!answer.text.contains(part), "{path}: {part}");
        }
        let policy = answer.header("content-security-policy");
        assert!(policy.contains("script-src 'self'") && !policy.contains("unsafe"), "{path}: {policy}");
        for file in answer.text.split('"').filter(|part| part.starts_with("/static/")) {
            let answer = server.send(request(Method::GET, file).body(Body::empty()).unwrap()).await;
            assert_eq!(answer.status, StatusCode::OK, "{file}");
            assert!(answer.header("cache-control").contains("immutable"), "{file}");
        }
    }
}

#[tokio::test]
async fn a_form_of_another_site_changes_nothing() {
    let (server, _) = with_a_kill().await;
    let browser = Browser::new(&server).await;
    for origin in [None, Some("null"), Some("http://evil.test"), Some("http://127.0.0.1:3000")] {
        let answer = browser.post_from(origin, "/agents/import-fixer/activate", "").await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{origin:?}");
    }
    assert_eq!(server.json("/api/agents/import-fixer").await["active"], false);
}

#[tokio::test]
async fn characters_that_hide_are_shown() {
    let server = Server::start().await;
    let agent = AgentId::parse("sly").unwrap();
    let mut event = Event::new(CallId::new(), agent, Default::default(), EventType::LlmCall, server.web.clock.now());
    event.model = Some("gpt\u{202e}o4".into());
    event.error = Some("bell\u{7}".into());
    event.conversation = Some("<img src=x onerror=alert(1)>".into());
    let id = event.id;
    server.web.recorder_handle.event(event);
    let browser = Browser::new(&server).await;
    for path in ["/requests".to_owned(), format!("/requests/{id}"), "/agents/sly".to_owned()] {
        let text = browser.page(&path).await;
        assert!(text.contains("gpt⟨U+202E⟩o4"), "{path}");
        assert!(!text.contains('\u{202e}') && !text.contains('\u{7}') && !text.contains("<img"), "{path}");
    }
}

#[test]
fn no_template_turns_the_escaping_off() {
    for template in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/templates")).unwrap() {
        let path = template.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!text.contains("|safe") && !text.contains("escape"), "{}", path.display());
    }
}
