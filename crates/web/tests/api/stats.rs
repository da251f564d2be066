//! Statistics and exports.

use axum::http::{Method, StatusCode};
use model::{AgentId, CallId, Epoch, Event, EventType, NanoUsd, Timestamp, Unread, Unscored, Usage};
use serde_json::{Value, json};
use store::Notice;

use crate::pages::Browser;
use crate::server::Server;

/// A call of `agent` some hours ago, with its cost in billionths of a dollar; without a cost, its
/// model has no price.
fn call(server: &Server, agent: &str, hours_ago: i64, cost: Option<i64>) -> Event {
    let time = Timestamp::from_millis(server.web.clock.now().as_millis() - hours_ago * 60 * 60 * 1000);
    let agent = AgentId::parse(agent).unwrap();
    let mut event = Event::new(CallId::at(time), agent, Epoch::default(), EventType::LlmCall, time);
    event.provider = Some("openai".into());
    event.model = Some(if cost.is_some() { "gpt-4o" } else { "=unheard-of" }.into());
    event.conversation = Some("talk".into());
    event.status = Some(200);
    event.latency_ms = Some(1_000);
    event.usage = Usage { input: Some(100), output: Some(10), ..Usage::default() };
    event.cost = cost.map(NanoUsd::new);
    event
}

async fn record(server: &Server, events: Vec<Event>) {
    let mut notices = server.web.recorder.subscribe();
    let last = events.last().unwrap().id;
    events.into_iter().for_each(|event| server.web.recorder_handle.event(event));
    while !matches!(notices.recv().await.unwrap(), Notice::Event(written) if written.id == last) {}
}

async fn server_with_calls() -> Server {
    let server = Server::start().await;
    let mut failed = call(&server, "ann", 1, Some(0));
    failed.status = Some(500);
    let events = vec![
        call(&server, "ann", 0, Some(2_000_000_000)),
        failed,
        call(&server, "ben", 2, Some(500_000_000)),
        call(&server, "ben", 3, None),
        call(&server, "ann", 30, Some(1_000_000_000)),
    ];
    record(&server, events).await;
    server
}

#[tokio::test]
async fn overview_totals_and_comparison_with_the_time_before() {
    let server = server_with_calls().await;
    let stats = server.json("/api/stats/overview?range=24h").await;
    assert_eq!(stats["requests"], 4);
    assert_eq!((&stats["errors"], &stats["unpriced_requests"]), (&json!(1), &json!(1)));
    assert_eq!((&stats["cost_usd"], &stats["previous"]["cost_usd"]), (&json!(2.5), &json!(1.0)));
    assert_eq!((&stats["tokens_in"], &stats["tokens_out"]), (&json!(400), &json!(40)));
    let p50 = stats["latency_ms"]["p50"].as_u64().unwrap();
    assert!((980..=1020).contains(&p50), "{p50}");
    let series = stats["series"].as_array().unwrap();
    assert_eq!((series.len(), &stats["step"]), (24, &json!("hour")));
    assert_eq!(series.last().unwrap()["cost_usd"], 2.0);
    let names = |list: &Value, key: &str| {
        list.as_array().unwrap().iter().map(|item| item[key].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(&stats["models"], "model"), ["gpt-4o", "=unheard-of"]);
    assert_eq!(names(&stats["providers"], "provider"), ["openai"]);
    assert_eq!(names(&stats["agents"], "agent_id"), ["ann", "ben"]);
    assert_eq!(server.json("/api/stats/overview?range=7d").await["requests"], 5);
}

#[tokio::test]
async fn unscored_calls_are_counted_by_reason() {
    let server = Server::start().await;
    let unscored = |reason| Event { unscored: Some(reason), ..call(&server, "ann", 0, None) };
    let deep = Unscored::Unread(Unread::TooDeep);
    record(&server, vec![unscored(deep), unscored(Unscored::NoConversation), unscored(deep)]).await;
    let stats = server.json("/api/agents/ann/stats").await;
    let expected = json!([{ "reason": "too_deep", "requests": 2 }, { "reason": "no_conversation", "requests": 1 }]);
    assert_eq!(stats["unscored"], expected);
    let page = Browser::new(&server).await.page("/agents/ann").await;
    assert!(page.contains("nested too deeply") && page.contains("forwarded without a score"), "{page}");
    assert!(server.json("/api/stats/overview").await.get("unscored").is_none());
}

#[tokio::test]
async fn an_agent_has_its_own_statistics() {
    let server = server_with_calls().await;
    let stats = server.json("/api/agents/ann/stats?range=30d").await;
    assert_eq!((&stats["requests"], &stats["errors"], &stats["cost_usd"]), (&json!(3), &json!(1), &json!(3.0)));
    assert_eq!(stats["step"], "day");
    assert_eq!(stats["conversations"][0]["conversation"], "talk");
    assert_eq!(stats["conversations"][0]["cost_usd"], 3.0);
    assert_eq!(server.get("/api/agents/nobody/stats").await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn invalid_range_is_named() {
    let server = Server::start().await;
    for (query, field) in [
        ("range=1w", "range"),
        ("range=24h&from=2024-01-01T00:00:00Z", "range"),
        ("to=2024-01-01T00:00:00Z", "from"),
        ("from=2024-01-02T00:00:00Z&to=2024-01-01T00:00:00Z", "to"),
        ("from=2020-01-01T00:00:00Z", "from"),
        ("ranges=1h", "ranges"),
    ] {
        let answer = server.get(&format!("/api/stats/overview?{query}")).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{query}: {}", answer.text);
        assert!(
            answer.text.contains(&format!("\"{field}\"")) || answer.text.contains(field),
            "{query}: {}",
            answer.text
        );
    }
}

#[tokio::test]
async fn an_export_has_all_events() {
    let server = Server::start().await;
    let events: Vec<Event> = (0..1_203).map(|_| call(&server, "ann", 0, Some(1_500_000))).collect();
    for events in events.chunks(60) {
        record(&server, events.to_vec()).await;
    }
    let list = server.json("/api/events/export?format=json").await;
    assert_eq!(list.as_array().unwrap().len(), 1_203);
    assert_eq!(list[0], server.json("/api/events?limit=1").await["items"][0]);
    let csv = server.get("/api/events/export?format=csv&agent=ann").await;
    assert!(csv.header("content-disposition").contains("events.csv"));
    let lines: Vec<&str> = csv.text.trim_end().split("\r\n").collect();
    assert_eq!(lines.len(), 1_204);
    assert!(lines[1].contains(",200,1000,,100,10,,,,0.0015,false,\"talk\","), "{}", lines[1]);
    assert_eq!(server.json("/api/events/export?agent=nobody").await, json!([]));
    for bad in ["format=xml", "limit=1", "cursor=x"] {
        assert_eq!(server.get(&format!("/api/events/export?{bad}")).await.status, StatusCode::BAD_REQUEST, "{bad}");
    }
    assert_eq!(server.ask(Method::GET, "/api/events?format=csv", None).await.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn export_escapes_formulas() {
    let server = server_with_calls().await;
    let csv = server.get("/api/events/export?format=csv").await;
    assert!(csv.text.contains("\"'=unheard-of\""), "{}", csv.text);
    assert!(!csv.text.contains("\"=unheard-of\""));
}

#[tokio::test]
async fn events_are_found_by_text() {
    let server = server_with_calls().await;
    let found =
        async |text: &str| server.json(&format!("/api/events?text={text}")).await["items"].as_array().unwrap().len();
    assert_eq!(found("UNHEARD").await, 1);
    assert_eq!(found("talk").await, 5);
    assert_eq!(found("ben").await, 2);
    assert_eq!(found("gpt%25").await, 0);
}
