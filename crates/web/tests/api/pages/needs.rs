//! The headline says what needs a person, and says that nothing does only if that is true.

use axum::http::StatusCode;
use model::{AgentId, Answered, BlockReason, CallId, ChannelId, DeliveryId, Epoch, Event, EventType};
use serde_json::json;
use store::{AlertChange, Attempt, Change, DeliveryFilter, Outcome, PageRequest};

use super::Browser;
use crate::server::Server;

const PAGES: [&str; 2] = ["/", "/agents"];

/// Lets an agent ask the same again and again while its kill switch does not stop it.
async fn loop_unguarded(server: &Server, name: &str, settings: serde_json::Value) {
    assert_eq!(server.put(&format!("/api/agents/{name}/kill-switch"), settings).await.status, StatusCode::OK);
    let agent = AgentId::parse(name).unwrap();
    for _ in 0..10 {
        let scored = server.call(&agent);
        let answer = Answered { text: "I cannot do that".into(), tool_calls: vec![] };
        server.web.guard.on_answer(&scored.ticket, &answer, server.web.clock.now());
    }
}

async fn headline(browser: &Browser<'_>, path: &str) -> String {
    let page = browser.page(path).await;
    let (_, rest) = page.split_once("<h1 id=\"summary\"").unwrap();
    let sentences = rest.split_once('>').unwrap().1.split_once("</h1>").unwrap().0;
    sentences.replace("<span>", "").replace("</span>", "").trim().to_owned()
}

#[tokio::test]
async fn loop_that_nothing_stops_is_in_the_headline_with_its_button() {
    let server = Server::start().await;
    loop_unguarded(&server, "off", json!({"enabled": false, "threshold": 5.0, "counting": "literal"})).await;
    let observes = json!({"enabled": true, "action": "observe", "threshold": 5.0, "counting": "literal"});
    loop_unguarded(&server, "observed", observes).await;
    let browser = Browser::new(&server).await;
    for path in PAGES {
        assert_eq!(headline(&browser, path).await, "2 agents loop unguarded.", "{path}");
        let page = browser.page(path).await;
        assert!(page.contains("its kill switch is off") && page.contains("its kill switch only observes"), "{page}");
        assert!(page.contains("action=\"/agents/off/kill-switch\""), "{page}");
    }
    let fields = "enabled=on&window_size=20&threshold=5&action=deactivate&counting=literal&anyway=on";
    for agent in ["off", "observed"] {
        let saved = browser.post(&format!("/agents/{agent}/kill-switch"), fields).await;
        assert_eq!(saved.status, StatusCode::SEE_OTHER, "{}", saved.text);
    }
    assert_eq!(headline(&browser, "/").await, "Nothing needs you.");
}

#[tokio::test]
async fn kill_without_notification_is_listed() {
    let server = Server::start().await;
    server.kill("looper").await;
    let browser = Browser::new(&server).await;
    for path in PAGES {
        assert_eq!(headline(&browser, path).await, "1 of 1 agent is stopped. No one was told of 1 kill.", "{path}");
        assert!(browser.page(path).await.contains("action=\"/agents/looper/activate\""), "{path}");
    }
}

async fn attempt(server: &Server, delivery: DeliveryId, outcome: Outcome) {
    let (at, answer) = (server.web.clock.now(), "upstream is down".to_owned());
    let attempt = Attempt { at, took_ms: 3, status: Some(503), answer, outcome };
    let change = AlertChange::Attempted { delivery, attempt };
    server.web.recorder.change(Change::Alerts(change)).await.unwrap();
}

async fn make_channel(server: &Server) -> ChannelId {
    let body = json!({"kind": "webhook", "name": "ops", "url": "https://example.com/hook"});
    let made = server.ask(axum::http::Method::POST, "/api/channels", Some(body)).await.json();
    ChannelId::parse(made["id"].as_str().unwrap()).unwrap()
}

/// Three kills: the alert about the first arrives by itself, the others wait for a digest, which is
/// returned.
async fn digest_of_two_kills(server: &Server) -> DeliveryId {
    let channel = make_channel(server).await;
    for agent in ["first", "second", "third"] {
        server.kill(agent).await;
    }
    let everything = PageRequest { limit: 10, cursor: None };
    let queued = server.web.store.deliveries(&DeliveryFilter::default(), &everything).await.unwrap().items;
    let at_once = queued.iter().find(|delivery| delivery.waits_in.is_none()).unwrap();
    attempt(server, at_once.id, Outcome::Delivered).await;
    let window_opened_at = queued.iter().find_map(|delivery| delivery.waits_in).unwrap();
    let (digest, at) = (DeliveryId::new(), server.web.clock.now());
    let change = AlertChange::Digest { channel, window_opened_at, digest, at };
    server.web.recorder.change(Change::Alerts(change)).await.unwrap();
    digest
}

#[tokio::test]
async fn failed_digest_notifies_no_one() {
    let server = Server::start().await;
    let digest = digest_of_two_kills(&server).await;
    let browser = Browser::new(&server).await;
    let on_its_way = "3 of 3 agents are stopped.";
    assert_eq!(headline(&browser, "/").await, on_its_way, "the digest was not tried yet");
    attempt(&server, digest, Outcome::GivenUp).await;
    for path in PAGES {
        let expected = "3 of 3 agents are stopped. 1 channel fails. No one was told of 2 kills.";
        assert_eq!(headline(&browser, path).await, expected, "{path}");
    }
    let incident = server.json("/api/agents/third").await["incident_id"].as_str().unwrap().to_owned();
    let page = browser.page(&format!("/incidents/{incident}")).await;
    assert!(page.contains("No one was told:</span> <strong><bdi>ops</bdi>") && !page.contains("Told:"), "{page}");

    let at = server.web.clock.now();
    server.web.recorder.change(Change::Alerts(AlertChange::Retry { delivery: digest, at })).await.unwrap();
    attempt(&server, digest, Outcome::Delivered).await;
    assert_eq!(headline(&browser, "/").await, on_its_way, "the digest arrived");
}

/// Records calls of an agent that were refused because it was inactive.
async fn refuse(server: &Server, name: &str, calls: usize) {
    let mut notices = server.web.recorder.subscribe();
    for _ in 0..calls {
        let (agent, now) = (AgentId::parse(name).unwrap(), server.web.clock.now());
        let mut event = Event::new(CallId::new(), agent, Epoch::default(), EventType::Blocked, now);
        event.block_reason = Some(BlockReason::Inactive);
        server.web.recorder_handle.event(event);
        notices.recv().await.unwrap();
    }
}

#[tokio::test]
async fn refusals_before_an_activation_need_no_one() {
    let server = Server::start().await;
    make_channel(&server).await;
    server.kill("looper").await;
    refuse(&server, "looper", 20).await;
    let browser = Browser::new(&server).await;
    assert_eq!(headline(&browser, "/").await, "1 of 1 agent is stopped.");
    assert_eq!(browser.post("/agents/looper/activate", "").await.status, StatusCode::SEE_OTHER);
    for path in PAGES {
        assert_eq!(headline(&browser, path).await, "Nothing needs you.", "{path}");
    }
}

#[tokio::test]
async fn channel_that_fails_is_said_where_it_is_listed_and_in_the_headline() {
    let server = Server::start().await;
    let channel = make_channel(&server).await;
    let browser = Browser::new(&server).await;
    for (outcome, expected) in [(Outcome::GivenUp, "1 channel fails."), (Outcome::Delivered, "No agents yet.")] {
        let (delivery, at) = (DeliveryId::new(), server.web.clock.now());
        let test = AlertChange::Test { channel, delivery, at };
        server.web.recorder.change(Change::Alerts(test)).await.unwrap();
        attempt(&server, delivery, outcome).await;
        assert_eq!(headline(&browser, "/").await, expected);
        let fails =
            browser.page("/alerts").await.contains("Fails</span> <span class=\"tone red\">503 upstream is down");
        assert_eq!(fails, outcome == Outcome::GivenUp);
    }
}

#[tokio::test]
async fn calls_without_a_price_are_never_free() {
    let server = Server::start().await;
    let mut notices = server.web.recorder.subscribe();
    let (agent, now) = (AgentId::parse("local").unwrap(), server.web.clock.now());
    let mut event = Event::new(CallId::new(), agent, Epoch::default(), EventType::LlmCall, now);
    event.usage.input = Some(100);
    event.status = Some(200);
    server.web.recorder_handle.event(event);
    notices.recv().await.unwrap();
    let browser = Browser::new(&server).await;
    for path in ["/", "/agents", "/costs"] {
        let page = browser.page(path).await;
        assert!(page.contains(">unpriced<"), "{path}: {page}");
    }
    assert!(browser.page("/costs").await.contains("1 call used a model without a known price and is not in the sum."));
    assert!(!browser.page("/agents").await.contains(">$0<"));
}

#[tokio::test]
async fn agents_are_sorted_by_need_or_as_asked() {
    let server = Server::start().await;
    for name in ["calm", "waiting"] {
        server.put(&format!("/api/agents/{name}/kill-switch"), json!({})).await;
    }
    loop_unguarded(&server, "near", json!({"enabled": false, "threshold": 5.0, "counting": "literal"})).await;
    server.kill("stopped").await;
    let browser = Browser::new(&server).await;
    let order = |page: &str| -> Vec<String> {
        let keys = page.split("<tr data-key=\"").skip(1);
        keys.map(|rest| rest.split_once('"').unwrap().0.to_owned()).collect()
    };
    assert_eq!(order(&browser.page("/agents").await), ["stopped", "near", "calm", "waiting"]);
    assert_eq!(order(&browser.page("/agents?sort=name").await), ["calm", "near", "stopped", "waiting"]);
    let by_score = browser.page("/agents?sort=score").await;
    assert_eq!(order(&by_score)[..2], ["near", "stopped"]);
    assert!(by_score.contains(
        "aria-sort=\"descending\"><button class=\"link sort\" form=\"filters\" name=\"sort\" value=\"score\""
    ));
    assert_eq!(browser.get("/agents?sort=luck").await.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn incident_says_who_was_notified() {
    let server = Server::start().await;
    let browser = Browser::new(&server).await;
    let untold = server.kill("first").await;
    assert!(browser.page(&format!("/incidents/{untold}")).await.contains("No one was told."));
    make_channel(&server).await;
    let told = server.kill("second").await;
    let page = browser.page(&format!("/incidents/{told}")).await;
    assert!(page.contains("No one was told yet:</span> <strong><bdi>ops</bdi></strong>"), "{page}");
}

#[tokio::test]
async fn wall_says_how_many_agents_it_leaves_out() {
    let server = Server::start().await;
    let browser = Browser::new(&server).await;
    for (number, expected) in
        [(12, None), (13, Some("1 more agent is not shown.")), (14, Some("2 more agents are not"))]
    {
        for agent in 1..=number {
            server.put(&format!("/api/agents/worker-{agent}/kill-switch"), json!({})).await;
        }
        let page = browser.page("/wall").await;
        assert_eq!(page.contains("not shown"), expected.is_some(), "{number}");
        assert!(expected.is_none_or(|said| page.contains(said)), "{number}: {page}");
    }
}

#[tokio::test]
async fn spent_budget_of_a_group_is_told_wherever_it_matters() {
    let server = Server::start().await;
    for agent in ["team:a", "loner"] {
        server.put(&format!("/api/agents/{agent}/kill-switch"), json!({"enabled": true})).await;
    }
    let browser = Browser::new(&server).await;
    assert_eq!(headline(&browser, "/").await, "Nothing needs you.");
    assert!(browser.page("/agents/team:a").await.contains("No limits: it may spend any amount"));

    let group = json!({"agents": ["team/*"], "policy": {"budget_daily_usd": 0,
        "rate_limits": [{"provider": "*", "requests_per_minute": 60}]}});
    assert_eq!(server.put("/api/groups/team", group).await.status, StatusCode::OK);
    for path in PAGES {
        assert_eq!(headline(&browser, path).await, "1 budget is spent.", "{path}");
        let page = browser.page(path).await;
        assert!(page.contains("The group team</bdi></strong> has spent its budget: the calls of its agents"), "{page}");
    }
    let agents = browser.page("/agents").await;
    assert_eq!(agents.matches(">Budget spent</a>").count(), 1, "{agents}");
    let page = browser.page("/agents/team:a").await;
    assert!(!page.contains("No limits"), "{page}");
    assert!(page.contains("the group <a href=\"/groups\">team</a>, 100 % spent: calls are refused"), "{page}");
    assert!(page.contains("The group team, all agents together: At most 60 calls a minute"), "{page}");
    assert!(browser.page("/agents/loner").await.contains("No limits"));
    assert!(browser.page("/costs").await.contains(">The group team</a>"));
    let groups = browser.page("/groups").await;
    assert!(groups.contains("$0 of $0 today, calls are refused"), "{groups}");

    // The agents of a stopped group are refused because of the stop.
    browser.submit("/groups/team/stop", "", "/groups?done=group-stopped").await;
    assert!(headline(&browser, "/").await.starts_with("Nothing needs you."));
}

#[tokio::test]
async fn group_is_stopped_or_activated_whichever_changes_something() {
    let server = Server::start().await;
    server.put("/api/groups/team", json!({"agents": ["team/*"]})).await;
    let browser = Browser::new(&server).await;
    let offers = async |action: &str| browser.page("/groups").await.contains(&format!("/groups/team/{action}\""));
    assert!(offers("stop").await && !offers("activate").await);
    browser.submit("/groups/team/stop", "", "/groups?done=group-stopped").await;
    assert!(!offers("stop").await && offers("activate").await);
}

/// Every figure leads to a list of as many.
#[tokio::test]
async fn agents_are_filtered_by_the_states_that_are_counted() {
    let server = Server::start().await;
    for agent in ["working", "resting"] {
        server.put(&format!("/api/agents/{agent}/kill-switch"), json!({})).await;
    }
    server.patch("/api/agents/resting", json!({"active": false})).await;
    server.kill("looper").await;
    let browser = Browser::new(&server).await;
    for (state, agent) in [("active", "working"), ("inactive", "resting"), ("stopped", "looper")] {
        let page = browser.page(&format!("/agents?state={state}")).await;
        assert_eq!(page.matches("<tr data-key=").count(), 1, "{state}: {page}");
        assert!(page.contains(&format!("<tr data-key=\"{agent}\"")), "{state}");
    }
    let resting = browser.page("/agents/resting").await;
    assert!(resting.contains("It was stopped by hand.") && !resting.contains("never been stopped"), "{resting}");
    assert!(browser.page("/agents?sort=name").await.contains("name=\"sort\" value=\"name\">Filter"));
}

/// Records failed calls of an agent.
async fn fail(server: &Server, name: &str, calls: usize) {
    let mut notices = server.web.recorder.subscribe();
    for _ in 0..calls {
        let (agent, now) = (AgentId::parse(name).unwrap(), server.web.clock.now());
        let mut event = Event::new(CallId::new(), agent, Epoch::default(), EventType::LlmCall, now);
        event.status = Some(500);
        server.web.recorder_handle.event(event);
        notices.recv().await.unwrap();
    }
}

#[tokio::test]
async fn list_and_headline_agree_on_what_became_of_the_calls() {
    let server = Server::start().await;
    server.kill("looper").await;
    refuse(&server, "looper", 30).await;
    let browser = Browser::new(&server).await;
    browser.post("/agents/looper/activate", "").await;
    fail(&server, "looper", 12).await;
    let page = browser.page("/agents").await;
    assert!(page.contains("show=failed&amp;range=24h\">Most calls fail</a>"), "{page}");
    assert!(page.contains("show=failed&#38;range=24h") || page.contains("show=failed&range=24h"), "{page}");
}

#[tokio::test]
async fn costs_say_that_further_agents_are_not_listed() {
    let server = Server::start().await;
    let browser = Browser::new(&server).await;
    for number in 0..51 {
        fail(&server, &format!("worker-{number}"), 1).await;
        let page = if number < 49 { continue } else { browser.page("/costs").await };
        assert_eq!(page.contains("The 50 most expensive agents."), number == 50, "{number}");
    }
}
