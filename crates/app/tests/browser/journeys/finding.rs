//! Search: the list of requests with its filters and exports, the global search, the charts.

use fake_provider::{Behaviour, FakeProvider, Fault, Script};
use http::StatusCode;
use serde_json::json;

use crate::driver::{Browser, Kind};
use crate::support::{Server, ServerBuilder};

/// A server with an agent that makes progress, one that fails and one that was stopped.
async fn start() -> (FakeProvider, Server) {
    let script = Script::chosen(|asking| match asking.last_user_text() {
        asked if asked.contains("break") => Behaviour::fault(Fault::Status(StatusCode::INTERNAL_SERVER_ERROR)),
        asked => Behaviour::text(&format!("About “{asked}”: done.")),
    });
    let provider = FakeProvider::start(0, script).await.unwrap();
    let server = ServerBuilder::new(&provider.url()).start();
    let mut messages = vec![
        json!({"role": "user", "content": "Tidy up the source folder, file by file, and tell me when you are done."}),
    ];
    for number in 0..6 {
        server.agent("tidy-worker").chat(&json!({"model": "gpt-4o", "messages": messages})).await;
        let (id, arguments) = (format!("call_{number}"), format!("{{\"file\":\"part-{number}.rs\"}}"));
        let call = json!({"id": id, "type": "function", "function": {"name": "read", "arguments": arguments}});
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
        messages.push(
            json!({"role": "tool", "tool_call_id": id, "content": format!("fn part_{number}() {{ run({number}) }}")}),
        );
    }
    server.agent("weather-bot").ask("Please break now.").await;
    server.agent("weather-bot").ask("Will it rain in Bergen tomorrow?").await;
    server.kill_switch("stuck-bot", json!({"enabled": true, "threshold": 3.0})).await;
    for _ in 0..5 {
        server.agent("stuck-bot").ask("Why does the import of customer records fail?").await;
    }
    (provider, server)
}

#[tokio::test]
async fn requests_are_found_by_part_of_a_word_and_by_what_became_of_them() {
    let (_provider, server) = start().await;
    let browser = Browser::logged_in(&server, Kind::WITHOUT_SCRIPT).await;
    browser.go("/requests").await;
    browser.type_into("#text", "weath").await;
    browser.click("form.filters button").await;
    browser.wait_for_text("#summary", "2 calls: 1 failed.").await;
    assert!(browser.path().await.contains("text=weath"), "the search is in the address");

    browser.click("#show option[value=failed]").await;
    browser.click("form.filters button").await;
    browser.wait_for_text("#summary", "1 call: 1 failed.").await;
    let path = browser.path().await;
    assert!(path.contains("text=weath") && path.contains("show=failed"), "{path}");

    browser.go("/requests?show=blocked").await;
    browser.wait_for_text("#summary", "refused.").await;
    browser.wait_for_text("#requests", "stuck-bot").await;
    browser.go("/requests?show=slow").await;
    browser.wait_for_text("#requests", "No request matches.").await;
    browser.go("/requests?from=2020-01-01&to=2020-01-02").await;
    browser.wait_for_text("#requests", "No request matches.").await;
    browser.go("/requests?from=2020-01-01").await;
    browser.wait_for_text("#requests", "weather-bot").await;
}

/// With and without script, also if a number of seconds was typed.
#[tokio::test]
async fn slow_requests_are_shown_and_left_by_the_same_choice() {
    let (_provider, server) = start().await;
    for kind in [Kind::DESKTOP, Kind::WITHOUT_SCRIPT] {
        let browser = Browser::logged_in(&server, kind).await;
        for slow in ["/requests?show=slow", "/requests?slow=30", "/requests?text=weather&show=slow&slow=30"] {
            browser.go(slow).await;
            browser.wait_for_text("#requests", "No request matches.").await;
            let chosen = "return document.getElementById('show').value";
            assert_eq!(browser.run(chosen).await, "slow", "{slow}");
            browser.click("#show option[value=all]").await;
            if !kind.has_script {
                browser.click("form.filters > button").await;
            }
            browser.wait_for_text("#requests", "weather-bot").await;
            assert_eq!(browser.run(chosen).await, "", "{slow}: everything is shown, and said to be");
        }
    }
}

/// Filters are in the address, and keep the order of the list.
#[tokio::test]
async fn filter_keeps_the_order_of_the_agents() {
    let (_provider, server) = start().await;
    for kind in [Kind::DESKTOP, Kind::WITHOUT_SCRIPT] {
        let browser = Browser::logged_in(&server, kind).await;
        browser.go("/agents").await;
        browser.click("button.sort[value=name]").await;
        browser.wait_for("th[aria-sort=ascending]").await;
        browser.click("#state option[value=active]").await;
        if !kind.has_script {
            browser.click("#filters button").await;
        }
        browser.wait_for("#state option[value=active][selected]").await;
        browser.wait_for("th[aria-sort=ascending]").await;
        let path = browser.path().await;
        assert!(path.contains("state=active") && path.contains("sort=name"), "{path}");
        browser.wait_for("tr[data-key=tidy-worker]").await;
        assert!(browser.find("tr[data-key=stuck-bot]").await.is_none(), "{kind:?}: it is stopped");
    }
}

#[tokio::test]
async fn agent_at_work_is_not_said_to_repeat_itself() {
    let (_provider, server) = start().await;
    let browser = Browser::logged_in(&server, Kind::DESKTOP).await;
    browser.go("/requests?agent=tidy-worker").await;
    browser.wait_for_text("#summary", "6 calls: none failed.").await;
    assert_eq!(browser.find("#requests .letter").await, None, "its steps are not marked as repetitions");
    browser.go("/requests?agent=stuck-bot").await;
    browser.wait_for("#requests .letter").await;
}

#[tokio::test]
async fn requests_that_match_are_taken_as_files() {
    let (_provider, server) = start().await;
    let browser = Browser::logged_in(&server, Kind::DESKTOP).await;
    browser.go("/requests?text=weather&show=failed").await;
    let fetch = "const link = document.querySelectorAll('#export a')[arguments[0]]; \
                 return fetch(link.href).then((answer) => answer.text())";
    let get = async |place: usize| {
        let script = fetch.replace("arguments[0]", &place.to_string());
        browser.run(&script).await.as_str().unwrap().to_owned()
    };
    let csv = get(0).await;
    assert_eq!(csv.lines().count(), 2, "a head and the one that failed: {csv}");
    let json: serde_json::Value = serde_json::from_str(&get(1).await).unwrap();
    assert_eq!(json.as_array().map(Vec::len), Some(1), "{json}");
    assert_eq!(json[0]["agent_id"], "weather-bot");
}

#[tokio::test]
async fn errors_on_the_overview_lead_to_the_requests_that_failed() {
    let (_provider, server) = start().await;
    let browser = Browser::logged_in(&server, Kind::DESKTOP).await;
    browser.go("/").await;
    for chart in ["Calls", "Cost", "Failed calls", "Refused calls", "Median latency", "95th percentile of the latency"]
    {
        let titles = browser.text(".charts").await;
        assert!(titles.contains(&format!("{chart} by the hour")), "{chart}: {titles}");
    }
    browser.click("a[href^='/requests?show=failed']").await;
    browser.wait_for_text("#summary", "1 call: 1 failed.").await;
}

#[tokio::test]
async fn ctrl_k_finds_anything_from_any_page() {
    let (_provider, server) = start().await;
    let browser = Browser::logged_in(&server, Kind::DESKTOP).await;
    browser.go("/costs").await;
    browser.wait_for("#connection.live").await;
    browser.chord('\u{e009}', 'k').await;
    browser.wait_for("#search-dialog[open]").await;
    browser.type_into("#search-field", "stuck").await;
    browser.wait_for_text("#search-dialog", "score").await;
    let said = browser.text("#search-dialog").await;
    for group in ["Agents", "Incidents", "Requests"] {
        assert!(said.contains(group), "{group}: {said}");
    }
    // Escape closes it even while something is typed, and it is kept for the next time.
    browser.press('\u{e00c}').await;
    assert!(browser.find("#search-dialog[open]").await.is_none(), "one Escape closes it");
    browser.chord('\u{e009}', 'k').await;
    browser.wait_for_text("#search-dialog", "score").await;
    browser.press('\u{e007}').await;
    browser.wait_for_text("h1", "stuck-bot").await;
    assert_eq!(browser.path().await, "/agents/stuck-bot");
    assert_eq!(browser.log().await, Vec::<String>::new());
}

/// Enter never opens what was found for another text.
#[tokio::test]
async fn enter_before_the_results_are_there_leads_to_the_page_with_them() {
    let (_provider, server) = start().await;
    let browser = Browser::logged_in(&server, Kind::DESKTOP).await;
    browser.wait_for("#connection.live").await;
    browser.chord('\u{e009}', 'k').await;
    browser.wait_for_text("#search-dialog", "Pages and settings").await;
    browser.run("document.getElementById('search-field').value = 'weather'").await;
    browser.press('\u{e007}').await;
    browser.wait_for_text("#found", "weather-bot").await;
    assert_eq!(browser.path().await, "/search?text=weather");
}

#[tokio::test]
async fn search_is_a_plain_page_without_script() {
    let (_provider, server) = start().await;
    let browser = Browser::logged_in(&server, Kind::WITHOUT_SCRIPT).await;
    browser.click("nav a.find").await;
    browser.type_into("#search-text", "retention").await;
    browser.click("form.search button").await;
    browser.click("#found a").await;
    browser.wait_for("#retention-form").await;

    let failed = server.events("weather-bot", "llm_call").await;
    let call = failed[0]["id"].as_str().unwrap();
    browser.go(&format!("/search?text={call}")).await;
    browser.click("#found a").await;
    browser.wait_for_text("h1", "Call").await;
    assert_eq!(browser.path().await, format!("/requests/{call}"));
    for (text, path) in
        [("audit", "/settings/audit"), ("smtp", "/settings#mail"), ("team", "/groups"), ("wall", "/wall")]
    {
        browser.go(&format!("/search?text={text}")).await;
        browser.wait_for(&format!("#found a[href='{path}']")).await;
    }
    browser.go("/search?text=no-such-thing-anywhere").await;
    browser.wait_for_text("#found", "Nothing was found").await;
}
