//! A system with every kind of content: agents that work, rest, repeat themselves, and one that was
//! stopped.

use fake_provider::{Behaviour, FakeProvider, Fault, Script};
use model::{Clock, Timestamp};
use serde_json::{Value, json};

use crate::support::{Receiver, Server, ServerBuilder, eventually};

/// The agent that is stopped.
pub(crate) const STUCK: &str = "import-fixer";

/// The agent with a full policy.
pub(crate) const LIMITED: &str = "research-bot";

/// The agent whose calls fail.
pub(crate) const FAILING: &str = "key-expired";

/// The agent that is only watched.
pub(crate) const WATCHED: &str = "log-reader";

const QUESTIONS: [&str; 6] = [
    "Summarise the open tickets about invoices that were sent twice last week.",
    "Which customers in Norway have not logged in since the spring release?",
    "Draft a friendly answer to the complaint about the delayed shipment of lamps.",
    "Translate the release notes of the mobile client into plain Portuguese.",
    "List the three most common reasons for refunds in the travel department.",
    "Write a haiku about a database migration that went well on a Friday.",
];

/// A server with that history, its provider and its receivers.
pub(crate) struct Scene {
    pub(crate) server: Server,
    _provider: FakeProvider,
    _receiver: Receiver,
}

/// Starts the server and creates the history.
pub(crate) async fn start() -> Scene {
    let provider = FakeProvider::start(0, script()).await.unwrap();
    let receiver = Receiver::start(http::StatusCode::OK, std::time::Duration::ZERO).await;
    let server = ServerBuilder::new(&provider.url()).arguments(&["--allow-private-targets"]).start();
    alerts(&server, &receiver.url).await;
    for agent in ["research-bot", "support-chat", "translator", "nightly-report"] {
        server.kill_switch(agent, json!({"enabled": true})).await;
        for question in QUESTIONS.iter().cycle().take(4) {
            ask(&server, agent, question).await;
        }
    }
    server.api(http::Method::PATCH, "/api/agents/support-chat", Some(json!({"name": "Support chat (EU)"}))).await;
    repeat(&server, "price-watcher", json!({"enabled": true, "threshold": 12.0}), 4).await;
    repeat(&server, "page-crawler", json!({"enabled": false}), 8).await;
    repeat(&server, WATCHED, json!({"enabled": true, "action": "observe", "threshold": 5.0}), 5).await;
    ask(&server, "old-crawler", QUESTIONS[1]).await;
    server.api(http::Method::PATCH, "/api/agents/old-crawler", Some(json!({"active": false}))).await;
    kill(&server, STUCK).await;
    limit(&server, LIMITED, 0.85).await;
    limit(&server, "translator", 1.0).await;
    limit(&server, "nightly-report", 0.3).await;
    access(&server).await;
    Scene { server, _provider: provider, _receiver: receiver }
}

/// A channel that works, one that does not, and rules.
async fn alerts(server: &Server, url: &str) {
    let make = async |path: &str, body: Value| server.api(http::Method::POST, path, Some(body)).await;
    make("/api/channels", json!({"kind": "webhook", "name": "ops", "url": url})).await;
    make("/api/channels", json!({"kind": "webhook", "name": "night shift", "url": "http://127.0.0.1:9/hook"})).await;
    let rule = json!({"rule_type": "error_rate", "percent": 20.0, "minutes": 10, "repeat_minutes": 60, "notify_recovery": true});
    make("/api/alerts", rule).await;
    make(
        "/api/alerts",
        json!({"rule_type": "agent_down", "agent_id": "nightly-report", "minutes": 30, "enabled": false}),
    )
    .await;
}

/// Keys, a group, people and tokens, and a client with a key that was revoked.
async fn access(server: &Server) {
    let make = async |path: &str, body: Value| server.api(http::Method::POST, path, Some(body)).await;
    make(
        "/api/agent-keys",
        json!({"agent": "support-chat", "name": "production", "expires_at": "2099-01-01T00:00:00Z"}),
    )
    .await;
    let key = make("/api/agent-keys", json!({"agent": "team-with-a-long-name-in-norway/*"})).await;
    server.api(http::Method::DELETE, &format!("/api/agent-keys/{}", key["id"].as_str().unwrap()), None).await;
    make("/api/agent-keys", json!({"agent": "team-with-a-long-name-in-norway/*", "name": "the one of this year"}))
        .await;
    let call = http::Request::post(format!("{}/openai/v1/chat/completions", server.proxy))
        .header("x-api-key", key["key"].as_str().unwrap())
        .body(Default::default());
    assert_eq!(server.http.send(call.unwrap()).await.unwrap().status, 401);
    let group = json!({"agents": ["team-with-a-long-name-in-norway/*", "translator"], "labels": ["production"],
        "policy": {"budget_daily_usd": 50, "budget_monthly_usd": 900}});
    server.api(http::Method::PUT, "/api/groups/norway", Some(group)).await;
    let user = json!({"name": "ann.of.the.night.shift@example.com", "role": "operator", "groups": ["norway"],
        "password": "a-password-of-the-test"});
    make("/api/users", user).await;
    make("/api/tokens", json!({"name": "grafana", "role": "viewer", "expires_at": "2099-01-01T00:00:00Z"})).await;
}

/// Gives an agent a policy with a budget in whole cents, of which it has spent this share or a
/// little more.
async fn limit(server: &Server, agent: &str, share: f64) {
    let path = format!("/api/agents/{agent}/policy");
    let spent = server.get(&path).await["spent_daily_usd"].as_f64().unwrap();
    let policy = json!({
        "budget_daily_usd": (spent / share * 100.0).floor() / 100.0, "budget_monthly_usd": 5, "time_zone": "Europe/Berlin",
        "allowed_hours": [{"days": ["mon", "tue", "wed", "thu", "fri", "sat", "sun"], "from": "00:00", "to": "24:00"}],
        "rate_limits": [{"provider": "*", "requests_per_minute": 60}],
        "model_overrides": [{"provider": "openai", "model": "gpt-5", "use": "gpt-5-mini"}],
    });
    server.api(http::Method::PUT, &path, Some(policy)).await;
}

/// Asks one question of a model with a known price, with a realistic amount of context.
async fn ask(server: &Server, agent: &str, question: &str) {
    let context = "Work only with the files of this project, and say what you changed. ".repeat(600);
    let messages = json!([{"role": "system", "content": context}, {"role": "user", "content": question}]);
    server.agent(agent).chat(&json!({"model": "gpt-4o", "messages": messages})).await;
}

/// An agent asks the same question with another number each time.
async fn repeat(server: &Server, agent: &str, settings: Value, times: usize) {
    server.kill_switch(agent, settings).await;
    for number in 0..times {
        let question = format!("Read page {number} of the catalogue and tell me the price of the garden chair.");
        ask(server, agent, &question).await;
    }
}

/// An agent works a little, then loops until it is stopped; returns the incident.
pub(crate) async fn kill(server: &Server, agent: &str) -> String {
    server.kill_switch(agent, json!({"enabled": true})).await;
    for question in QUESTIONS.iter().take(4) {
        ask(server, agent, question).await;
    }
    for attempt in 0..9 {
        let prompt = format!("Attempt {attempt}: the import of customers.csv still fails, please fix the loader.");
        ask(server, agent, &prompt).await;
    }
    let incident = eventually("the kill is recorded", async || server.incidents(agent).await.pop()).await;
    incident["id"].as_str().unwrap().to_owned()
}

/// An agent whose calls the provider refuses, with a message; returns the newest request.
pub(crate) async fn fail(server: &Server) -> String {
    for question in QUESTIONS.iter().cycle().take(12) {
        ask(server, FAILING, &format!("Without a key: {question}")).await;
    }
    server.events(FAILING, "llm_call").await[0]["id"].as_str().unwrap().to_owned()
}

/// Marks the incident of the observed agent as a false alarm and exempts its prompt; returns the
/// incident.
pub(crate) async fn false_alarm(server: &Server) -> String {
    let id = server.incidents(WATCHED).await[0]["id"].as_str().unwrap().to_owned();
    let feedback = format!("/api/incidents/{id}/feedback");
    server.api(http::Method::POST, &feedback, Some(json!({"feedback": "false_alarm"}))).await;
    let until = Timestamp::from_millis(Clock::System.now().as_millis() + 30 * 24 * 60 * 60 * 1000);
    let body = json!({"incident_id": id, "what": "prompt", "until": until});
    server.api(http::Method::POST, &format!("/api/agents/{WATCHED}/exemptions"), Some(body)).await;
    id
}

/// The same answer to repetitions, a new one to everything else.
fn script() -> Script {
    Script::chosen(|asking| {
        let asked = asking.last_user_text();
        if asked.contains("customers.csv") {
            return Behaviour::text(
                "The column `country` is missing in the file. Add it to the loader and run the import again.",
            );
        }
        if asked.contains("Without a key") {
            return Behaviour::fault(Fault::Status(http::StatusCode::UNAUTHORIZED));
        }
        if asked.contains("garden chair") {
            return Behaviour::text("The garden chair costs 49 euros on this page.");
        }
        Behaviour::text(&format!("About “{asked}”: there is nothing more to say than this."))
    })
}
