//! The kill switch's settings, the providers and the theme.

use axum::http::StatusCode;
use serde_json::json;

use super::Browser;
use crate::server::Server;

const BALANCED: &str = "window_size=20&threshold=10&action=deactivate&counting=adaptive";

/// Seeds: “Toggle visibility”, “Configure parameters”.
#[tokio::test]
async fn toggle_visibility_and_configure_parameters() {
    let server = Server::start().await;
    server.put("/api/agents/tuned/kill-switch", json!({})).await;
    let browser = Browser::new(&server).await;
    let text = browser.page("/agents/tuned").await;
    for field in
        ["name=\"enabled\"", "name=\"window_size\"", "name=\"threshold\"", "name=\"action\"", "name=\"counting\""]
    {
        assert!(text.contains(field), "{field}");
    }
    let fields = "window_size=7&threshold=2.5&action=observe&counting=literal";
    browser
        .submit("/agents/tuned/kill-switch", fields, "/agents/tuned?done=saved-off&undo=off,20,10,deactivate,adaptive")
        .await;
    let settings = &server.json("/api/agents/tuned").await["kill_switch"];
    let expected =
        json!({"enabled": false, "window_size": 7, "threshold": 2.5, "action": "observe", "counting": "literal"});
    assert_eq!(*settings, expected);
}

/// Seeds: “Notification check on enable”.
#[tokio::test]
async fn notification_check_on_enable() {
    let server = Server::start().await;
    server.put("/api/agents/alone/kill-switch", json!({})).await;
    let browser = Browser::new(&server).await;
    let fields = format!("enabled=on&{BALANCED}&preset=tight");
    let asked = browser.post("/agents/alone/kill-switch", &fields).await;
    assert_eq!(asked.status, StatusCode::CONFLICT);
    assert!(asked.text.contains("No one would be notified.") && asked.text.contains("Enable anyway"), "{}", asked.text);
    assert!(asked.text.contains("value=\"5\""), "what was entered is kept");
    assert_eq!(server.json("/api/agents/alone").await["kill_switch"]["enabled"], false);

    let anyway = format!("{fields}&anyway=yes");
    browser
        .submit(
            "/agents/alone/kill-switch",
            &anyway,
            "/agents/alone?done=switched-on&undo=off,20,10,deactivate,adaptive",
        )
        .await;
    let settings = &server.json("/api/agents/alone").await["kill_switch"];
    assert_eq!(
        (&settings["enabled"], &settings["window_size"], &settings["threshold"]),
        (&json!(true), &json!(10), &json!(5.0))
    );
}

#[tokio::test]
async fn a_bad_value_names_its_field_and_changes_nothing() {
    let server = Server::start().await;
    server.put("/api/agents/tuned/kill-switch", json!({})).await;
    let browser = Browser::new(&server).await;
    for (fields, said) in [
        ("window_size=1&threshold=5&action=block&counting=literal", "Window size must be a whole number from 2 to 500"),
        ("window_size=many&threshold=5&action=block&counting=literal", "Window size must be"),
        ("window_size=9&threshold=0&action=block&counting=literal", "Threshold must be a number above 0"),
        ("window_size=9&threshold=NaN&action=block&counting=literal", "Threshold must be a number above 0"),
    ] {
        let answer = browser.post("/agents/tuned/kill-switch", fields).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST);
        assert!(answer.text.contains(said), "{fields}: {}", answer.text);
    }
    let odd =
        browser.post("/agents/tuned/kill-switch", "window_size=9&threshold=5&action=explode&counting=literal").await;
    assert_eq!(odd.status, StatusCode::BAD_REQUEST);
    assert_eq!(server.json("/api/agents/tuned").await["kill_switch"]["window_size"], 20);
}

#[tokio::test]
async fn a_provider_key_goes_in_and_never_comes_out() {
    let server = Server::start().await;
    let browser = Browser::new(&server).await;
    let fields = "name=local&base_url=http://127.0.0.1:9&format=ollama&key=sk-canary-9c1";
    browser.submit("/settings/providers", fields, "/settings?done=provider").await;
    let text = browser.page("/settings").await;
    assert!(text.contains("http://127.0.0.1:9") && text.contains("stored") && !text.contains("canary"), "{text}");

    let moved = browser.post("/settings/providers", "name=local&base_url=http://evil.test&format=ollama&key=").await;
    assert_eq!(moved.status, StatusCode::BAD_REQUEST);
    assert!(moved.text.contains("Key must be given again"), "{}", moved.text);
    browser.submit("/settings/providers/local/remove", "", "/settings?done=provider-removed").await;
    assert!(!browser.page("/settings").await.contains("127.0.0.1:9"));
}

#[tokio::test]
async fn the_theme_is_kept_in_a_cookie() {
    let server = Server::start().await;
    let mut browser = Browser::new(&server).await;
    assert!(browser.page("/").await.contains("data-theme=\"system\""));
    let answer = browser.post("/theme", "theme=dark&next=/agents").await;
    assert_eq!(answer.header("location"), "/agents");
    let cookie = answer.header("set-cookie").split(';').next().unwrap().to_owned();
    browser.cookie = format!("{}; {cookie}", browser.cookie);
    assert!(browser.page("/").await.contains("data-theme=\"dark\""));
    assert_eq!(browser.post("/theme", "theme=pink&next=/").await.status, StatusCode::BAD_REQUEST);
}
