//! Clients of a cluster, each with its own agent, that record what they do.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use fake_provider::{Behaviour, FakeProvider, Script};
use futures_util::future::join_all;
use http::{Method, Request};
use http_body_util::Full;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::history::{CALL, History, HistoryEvent};
use crate::support::{Answer, Http, openai_request};

/// The timeout of a client, for replicas that hang.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(5);
const QUESTION: &str = "Why does the import of customer records fail?";
/// The questions of the steady client: its scores are above zero and stay below its threshold.
const QUESTIONS: [&str; 5] = [
    "Why does the import of customer records fail?",
    "Which column is missing in the table of orders?",
    "How many invoices were sent in the last week?",
    "Who changed the schedule of the nightly export?",
    "What does the report about the warehouse say?",
];

/// A provider that records every call.
pub(crate) async fn provider(history: &History) -> FakeProvider {
    let history = history.clone();
    let script = Script::chosen(move |asking| {
        let call = asking.headers().get(CALL).and_then(|call| call.to_str().ok()).and_then(|call| call.parse().ok());
        // Only calls of the load have numbers.
        if let Some(call) = call {
            history.add(HistoryEvent::CallReceived { call });
        }
        Behaviour::text("The import fails because the column is missing.")
    });
    FakeProvider::start(0, script).await.unwrap()
}

/// What all clients of a run share.
#[derive(Clone)]
pub(crate) struct Load {
    pub(crate) proxy: String,
    pub(crate) dashboard: String,
    pub(crate) token: String,
    pub(crate) http: Http,
    pub(crate) history: History,
    pub(crate) is_over: Arc<AtomicBool>,
    /// The number of calls with an answer of any kind.
    pub(crate) answered: Arc<AtomicU64>,
    /// The number of calls without an answer.
    pub(crate) failed: Arc<AtomicU64>,
}

impl Load {
    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Sends a call and records its outcome; `None` without an answer.
    pub(crate) async fn call(&self, agent: &str, request: &Value) -> Option<Answer> {
        let call = self.history.ask(agent, request);
        let sent = Request::post(format!("{}/agents/{agent}/openai/v1/chat/completions", self.proxy))
            .header("content-type", "application/json")
            // Every call takes a new connection, so that the balancer sends it to the next replica.
            .header("connection", "close")
            .header(CALL, call.to_string())
            .body(Full::new(Bytes::from(request.to_string())));
        let answer = timeout(CLIENT_TIMEOUT, self.http.send(sent.unwrap())).await.ok().and_then(Result::ok);
        let counter = if answer.is_some() { &self.answered } else { &self.failed };
        counter.fetch_add(1, Ordering::Relaxed);
        let answer = answer?;
        let id = answer.header("x-agentgazer-request-id").to_owned();
        let is_degraded = answer.header("x-agentgazer-mode") == "degraded";
        if answer.is_inactive_response() {
            let incident = answer.json()["incident_id"].as_str().unwrap().to_owned();
            self.history.add(HistoryEvent::CallRefused { call, id, incident, is_degraded });
        } else {
            let response = if answer.status == 200 { answer.json() } else { Value::Null };
            self.history.add(HistoryEvent::CallAnswered { call, id, is_degraded, response });
        }
        Some(answer)
    }

    async fn change(&self, method: Method, path: &str, body: Value) -> Option<Answer> {
        let url = format!("{}{path}", self.dashboard);
        let sent = self.http.json(method, &url, Some(&self.token), Some(&body));
        timeout(CLIENT_TIMEOUT, sent).await.ok().and_then(Result::ok)
    }

    /// Requests an activation until it is acknowledged.
    async fn activate(&self, agent: &str) {
        self.history.add(HistoryEvent::ActivationRequested { agent: agent.to_owned() });
        let mut last = None;
        for _ in 0..100 {
            last = self.change(Method::PATCH, &format!("/api/agents/{agent}"), json!({"active": true})).await;
            if last.as_ref().is_some_and(|answer| answer.status == 200) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("{agent} is not activated: {last:?}");
    }

    /// Requests a threshold once.
    async fn configure(&self, agent: &str, threshold: f64) {
        self.history.add(HistoryEvent::ThresholdRequested { agent: agent.to_owned(), threshold });
        let path = format!("/api/agents/{agent}/kill-switch");
        let answer = self.change(Method::PUT, &path, json!({"enabled": true, "threshold": threshold})).await;
        if answer.is_some_and(|answer| answer.status == 200) {
            self.history.add(HistoryEvent::ThresholdAcknowledged { agent: agent.to_owned(), threshold });
        }
    }

    async fn ask_until_refused(&self, agent: &str) {
        while !self.is_over() {
            let answer = self.call(agent, &openai_request(QUESTION)).await;
            if answer.is_some_and(|answer| answer.is_inactive_response()) {
                return;
            }
        }
    }
}

/// Loops with `concurrency` calls at a time until its agent is stopped, makes further calls, is
/// activated, and starts again.
pub(crate) async fn run_looping_client(load: Load, agent: String, concurrency: usize) {
    let mut turn = 0_u32;
    while !load.is_over() {
        turn += 1;
        join_all((0..concurrency).map(|_| load.ask_until_refused(&agent))).await;
        for _ in 0..3 {
            load.call(&agent, &openai_request("Is anybody there who knows the answer?")).await;
        }
        if load.is_over() {
            return;
        }
        load.configure(&agent, 5.0 + f64::from(turn % 3)).await;
        load.activate(&agent).await;
    }
}

/// Makes two calls at a time, and is never stopped.
pub(crate) async fn run_steady_client(load: Load, agent: String) {
    let work = async |first: usize| {
        let mut turn = first;
        while !load.is_over() {
            load.call(&agent, &openai_request(QUESTIONS[turn % QUESTIONS.len()])).await;
            turn += 2;
            tokio::time::sleep(Duration::from_millis(60)).await;
        }
    };
    tokio::join!(work(0), work(1));
}

/// Spends its budget with three calls at a time, and continues to call when it is spent.
pub(crate) async fn run_spending_client(load: Load, agent: String) {
    let spend = async |hand: usize| {
        let mut turn = 0;
        while !load.is_over() {
            turn += 1;
            let mut request = openai_request(&format!("Question {turn} of hand {hand}: why does it fail?"));
            request["model"] = json!("gpt-5-mini");
            load.call(&agent, &request).await;
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    join_all((0..3).map(spend)).await;
}
