//! Text of agents and models is shown as text: payloads in every field that is shown, in a real
//! browser.

use fake_provider::{Behaviour, FakeProvider, Script};
use serde_json::json;

use crate::driver::{Browser, Kind};
use crate::support::{Receiver, Server, ServerBuilder, eventually};

/// Payloads of attackers. Each tries to set `window.pwned`, to contact another host, or to hide
/// something.
fn payloads() -> Vec<String> {
    let mut payloads: Vec<String> = [
        "<script>window.pwned=1</script>",
        "<img src=x onerror=\"window.pwned=1\">",
        "<svg onload=\"window.pwned=1\"><script>window.pwned=1</script></svg>",
        "\"><iframe srcdoc='<script>parent.pwned=1</script>'></iframe>",
        "' autofocus onfocus='window.pwned=1' x='",
        "</pre></details></main><base href=\"http://evil.test/\"><link rel=stylesheet href=\"http://evil.test/a.css\">",
        "<a href=\"javascript:window.pwned=1\">click</a> javascript:window.pwned=1",
        "<meta http-equiv=refresh content=\"0;url=http://evil.test/\"><style>@import 'http://evil.test/b.css'</style>",
        "<form action=\"http://evil.test/\"><button>Log in</button></form>",
        "{{ 7 * 7 }} {% include 'x' %} ${7*7} <%= 7 %>",
        "]]><!--<x/onclick=window.pwned=1>",
        "\u{202e}gnp.exe\u{202c} \u{2066}hidden\u{2069} zero\u{200b}width \u{0}\u{7}\u{1b}[31mred",
    ]
    .map(str::to_owned)
    .to_vec();
    payloads.push(format!("<b>{}", "A".repeat(1 << 20)));
    payloads
}

/// Checks that nothing ran, no other host was contacted, and the policy had nothing to refuse.
async fn check(browser: &Browser, path: &str) {
    browser.go(path).await;
    browser.wait_for("#main h1").await;
    browser.run("for (const part of document.querySelectorAll('details')) part.open = true").await;
    assert_eq!(browser.run("return typeof window.pwned").await, "undefined", "{path}");
    let foreign = "return [...document.querySelectorAll('main script, main iframe, main img, main base, main meta, main style')].map((element) => element.outerHTML)";
    assert_eq!(browser.run(foreign).await, json!([]), "{path}");
    let elsewhere: Vec<String> = browser
        .requests()
        .await
        .into_iter()
        .filter(|url| !url.starts_with(&browser.dashboard) && !url.starts_with("data:") && !url.starts_with("chrome"))
        .collect();
    assert_eq!(elsewhere, Vec::<String>::new(), "{path}");
    assert_eq!(browser.log().await, Vec::<String>::new(), "{path}");
}

#[tokio::test]
async fn hostile_text_stays_text_in_every_field() {
    let echo = Script::chosen(|asking| Behaviour::text(&asking.last_user_text()));
    let provider = FakeProvider::start(0, echo).await.unwrap();
    let server = ServerBuilder::new(&provider.url()).arguments(&["--allow-private-targets"]).start();
    let browser = Browser::logged_in(&server, Kind::DESKTOP).await;
    for (number, payload) in payloads().into_iter().enumerate() {
        let agent = format!("hostile-{number}");
        let (incident, call) = attack(&server, &agent, &payload).await;
        mislead(&server, &payload).await;
        check(&browser, "/alerts").await;
        check(&browser, &format!("/agents/{agent}")).await;
        check(&browser, &format!("/incidents/{incident}")).await;
        check(&browser, &format!("/requests/{call}")).await;
        let query: String = payload.bytes().take(400).map(|byte| format!("%{byte:02X}")).collect();
        for path in [
            "/agents?search=",
            "/agents/x?done=",
            "/alerts?done=rule-off&undo=",
            "/requests?model=",
            "/requests?conversation=",
            "/requests?provider=",
            "/login?next=",
            "/",
        ] {
            browser.go(&format!("{path}{query}")).await;
            assert_eq!(browser.run("return typeof window.pwned").await, "undefined", "{path}");
        }
        browser.log().await;
        browser.requests().await;
    }
    for path in ["/", "/agents", "/incidents", "/requests", "/costs?range=24h", "/alerts", "/settings"] {
        check(&browser, path).await;
    }
}

/// An agent sends `payload` in every field until it is stopped; returns its incident and one of its
/// calls.
async fn attack(server: &Server, agent: &str, payload: &str) -> (String, String) {
    server.kill_switch(agent, json!({"enabled": true, "threshold": 1.0, "counting": "literal"})).await;
    let name: String = payload.chars().filter(|character| !character.is_control()).take(150).collect();
    server.api(http::Method::PATCH, &format!("/api/agents/{agent}"), Some(json!({"name": name}))).await;
    let messages = json!([{"role": "user", "content": payload}]);
    let model: String = payload.chars().take(4096).collect();
    let request = json!({"model": model, "user": payload, "messages": messages});
    for _ in 0..10 {
        if server.agent(agent).chat(&request).await.is_inactive_response() {
            break;
        }
    }
    let incident = eventually("the kill is recorded", async || server.incidents(agent).await.pop()).await;
    let calls = server.events(agent, "llm_call").await;
    let id = |value: &serde_json::Value| value["id"].as_str().unwrap().to_owned();
    (id(&incident), id(&calls[0]))
}

/// Names a channel `payload`, and has its target answer with it.
async fn mislead(server: &Server, payload: &str) {
    let receiver = Receiver::saying(payload, http::StatusCode::GONE, std::time::Duration::ZERO).await;
    let name: String = payload.chars().filter(|character| !character.is_control()).take(100).collect();
    let channel = json!({"kind": "webhook", "name": name, "url": receiver.url});
    let channel = server.api(http::Method::POST, "/api/channels", Some(channel)).await;
    let id = channel["id"].as_str().unwrap();
    let rule = json!({"rule_type": "kill_switch", "channels": [id]});
    server.api(http::Method::POST, "/api/alerts", Some(rule)).await;
    let told = server.api(http::Method::POST, &format!("/api/channels/{id}/test"), None).await;
    // Gone for good: the channel is disabled automatically.
    assert_eq!(told["attempts"][0]["status_code"], 410, "{told}");
}
