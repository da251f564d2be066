//! How long the server takes for each page with a million events of a thousand agents, and how
//! large the pages are. Prints a table; an answer over 50 ms, or a page over 150 KB with all its
//! files, ends it with an error.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::print_stdout)]

use std::net::{IpAddr, Ipv4Addr};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use control::{Control, Token};
use guard::{Guard, GuardConfig};
use http_body_util::BodyExt;
use model::{
    AgentId, AllowedHosts, CallId, Clock, ConversationId, Epoch, Event, EventType, Evidence, Failures, Fingerprint,
    Incident, IncidentId, IncidentState, Kill, KillSwitch, Matched, Outcome, Policy, Providers, RecorderHandle, Score,
    SignalCounts, Step, Stuck, TextHash, Timestamp, Turn, WindowKind,
};
use store::{Recorder, Store, StoreConfig};
use tower::ServiceExt;
use web::Web;

const AGENTS: u64 = 1_000;
const TOKEN: &str = "benchmark";
const ROUNDS: usize = 21;
const SLOWEST: Duration = Duration::from_millis(50);
const LARGEST: usize = 150_000;

#[tokio::main]
async fn main() -> ExitCode {
    let events: u64 = std::env::var("BENCH_EVENTS").ok().and_then(|text| text.parse().ok()).unwrap_or(1_000_000);
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(StoreConfig::new(folder.path(), folder.path().join("key"))).await.unwrap();
    // The inbox is large enough for all of them: nothing here waits for the writer.
    let (handle, inbox) = RecorderHandle::new(usize::try_from(events).unwrap() + 1);
    let (recorder, _writer) = Recorder::start(store.clone(), inbox);
    let now = Clock::System.now();
    let began = Instant::now();
    for number in 0..events {
        handle.event(event(number, events, now));
    }
    let incident = kill(now);
    let id = incident.kill.incident;
    let trigger = event(events, events, now);
    let call = trigger.id;
    assert!(handle.kill(incident, Event { event_type: EventType::KillSwitch, ..trigger }).wait().await);
    written(&recorder).await;
    assert_eq!(handle.dropped_events(), 0, "the events did not fit into the channel");
    println!("{events} events of {AGENTS} agents written in {:.1?}", began.elapsed());

    let router = web::router(parts(store, recorder, handle));
    let files = files(&router).await;
    let mut failed = false;
    for path in [
        "/".to_owned(),
        "/agents".to_owned(),
        "/agents?search=agent-07".to_owned(),
        "/agents/agent-007".to_owned(),
        "/incidents".to_owned(),
        format!("/incidents/{id}"),
        "/requests".to_owned(),
        "/requests?agent=agent-007".to_owned(),
        "/requests?type=kill_switch&range=24h".to_owned(),
        format!("/requests/{call}"),
        "/alerts".to_owned(),
        "/costs?range=30d".to_owned(),
        "/settings".to_owned(),
    ] {
        let (median, slowest, size) = measure(&router, &path).await;
        println!("{path:<45} median {median:>8.1?}   slowest {slowest:>8.1?}   {:>4} KB", (size + files) / 1000);
        failed |= slowest > SLOWEST || size + files > LARGEST;
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Waits until the writer has nothing left to write or to add up: then it answers at once, every
/// time. (A month of hours ends here within a minute; a server has one hour at a time to add up.)
async fn written(recorder: &Recorder) {
    let mut at_once = 0;
    while at_once < 20 {
        let asked = Instant::now();
        recorder.catch_up().await;
        at_once = if asked.elapsed() < Duration::from_millis(10) { at_once + 1 } else { 0 };
    }
}

/// A call of one of the agents, spread over the last thirty days; some ask the same, some fail.
fn event(number: u64, events: u64, now: Timestamp) -> Event {
    let age = (events - number) * 29 * 24 * 60 * 60 * 1000 / events.max(1);
    let time = Timestamp::from_millis(now.as_millis() - age.cast_signed());
    let agent = AgentId::parse(&format!("agent-{:03}", number % AGENTS)).unwrap();
    let id = CallId::at(time);
    let mut event = Event::new(id, agent, Epoch::default(), EventType::LlmCall, time);
    event.provider = Some("openai".into());
    event.model = Some(["gpt-4o", "gpt-4o-mini", "o3"][(number / AGENTS % 3) as usize].into());
    event.conversation = Some(format!("conversation-{}", number / AGENTS / 40));
    event.status = Some(if number.is_multiple_of(97) { 500 } else { 200 });
    event.latency_ms = Some(200 + number % 3000);
    (event.usage.input, event.usage.output) = (Some(1200), Some(300));
    event.score = Some(Score::default());
    event.fingerprint = Some(fingerprint(id, number / AGENTS, time));
    event
}

fn fingerprint(call: CallId, number: u64, time: Timestamp) -> Fingerprint {
    let hash = |number: u64| number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    Fingerprint {
        conversation: ConversationId(number / 40),
        body: hash(number),
        prompt: Some(TextHash(hash(number / 3))),
        turn: Turn { message: hash(number / 3), position: 0 },
        step: Step { depth: 0, newest: hash(number) },
        outcome: Outcome::Answered,
        ..Fingerprint::new(call, number, time)
    }
}

/// A kill with twenty calls of evidence, each of them long.
fn kill(now: Timestamp) -> Incident {
    let body = "The import of customers.csv fails again, please fix the loader and run it. ".repeat(400);
    let evidence = |number: u64| Evidence {
        call: CallId::new(),
        time: Some(now),
        matched: vec![if number == 19 { Matched::Trigger } else { Matched::Prompt }],
        alike: Vec::new(),
        prompt: Some(format!("Attempt {number}: {body}")),
        tool_calls: None,
        tool_results: None,
        response: (number < 19).then(|| body.clone()),
        request_body: Some(body.clone().into_bytes()),
        response_body: (number < 19).then(|| body.clone().into_bytes()),
        truncated: false,
        missing: None,
    };
    let signals = SignalCounts { similar_prompts: 19, ..SignalCounts::default() };
    let kill = Kill {
        incident: IncidentId::at(now),
        agent: AgentId::parse("agent-000").unwrap(),
        epoch: Epoch::default(),
        at: now,
        score: Score { value: signals.score(), signals, window: WindowKind::Agent },
        kill_switch: KillSwitch { enabled: true, ..KillSwitch::default() },
        matches: Vec::new(),
        stuck: Stuck::default(),
        window: Vec::new(),
    };
    Incident {
        kill,
        state: IncidentState::Open,
        provider: "openai".into(),
        model: Some("gpt-4o".into()),
        conversation: None,
        evidence: (0..20).map(evidence).collect(),
    }
}

fn parts(store: Store, recorder: Recorder, recorder_handle: RecorderHandle) -> Web {
    let (guard, token) = (Arc::new(Guard::new(GuardConfig::default())), Token::configured(TOKEN));
    let control = Control::new(control::Parts {
        guard: Arc::clone(&guard),
        store: store.clone(),
        recorder: recorder.clone(),
        providers: Providers::default(),
        configured_providers: Vec::new(),
        agent_keys: model::AgentKeys::default(),
        key_requirement: model::KeyRequirement::default(),
        configured_policy: Policy::default(),
        token: token.clone(),
        clock: Clock::System,
    });
    Web {
        control,
        guard,
        store,
        recorder,
        recorder_handle,
        providers: Providers::default(),
        allow_private_targets: false,
        mail: web::Mail::default(),
        names: web::Names::System,
        recording: web::Recording::default(),
        opening_words: web::OpeningWords::default(),
        proxy_url: "http://127.0.0.1:18900".into(),
        public_url: "http://127.0.0.1:18880".into(),
        token,
        sessions: web::SessionStorage::default(),
        drills: web::Drills::default(),
        is_https: false,
        access: web::Access::default(),
        warnings: web::Warnings::default(),
        detection_failures: Failures::default(),
        hosts: AllowedHosts::new(IpAddr::from(Ipv4Addr::LOCALHOST), []),
        draining: Arc::new(AtomicBool::new(false)),
        clock: Clock::System,
    }
}

/// The bytes of all files that a page loads, which a browser keeps.
async fn files(router: &Router) -> usize {
    let page = get(router, "/").await;
    let version = page.split("/static/").nth(1).unwrap().split('/').next().unwrap().to_owned();
    let mut size = 0;
    for file in
        ["style.css", "icon.svg", "app.js", "act.js", "live.js", "local.js", "patch.js", "what_if.js", "words.js"]
    {
        size += get(router, &format!("/static/{version}/{file}")).await.len();
    }
    size
}

async fn measure(router: &Router, path: &str) -> (Duration, Duration, usize) {
    let mut times = Vec::with_capacity(ROUNDS);
    let mut size = 0;
    for _ in 0..ROUNDS {
        let began = Instant::now();
        size = get(router, path).await.len();
        times.push(began.elapsed());
    }
    times.sort_unstable();
    (times[ROUNDS / 2], times[ROUNDS - 1], size)
}

async fn get(router: &Router, path: &str) -> String {
    let request = Request::get(path).header("host", "127.0.0.1").header("authorization", format!("Bearer {TOKEN}"));
    let response = router.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
    assert_eq!(response.status(), 200, "{path}");
    String::from_utf8(response.into_body().collect().await.unwrap().to_bytes().to_vec()).unwrap()
}
