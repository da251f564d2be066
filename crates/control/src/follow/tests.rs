//! Two servers on one PostgreSQL database: a change on one takes effect on the other.

#![allow(clippy::unwrap_used, reason = "a test may")]

use std::time::Duration;

use model::{
    AgentPattern, CallId, Epoch, Event, EventType, Format, Grant, Incident, IncidentState, KillSwitchChange,
    PolicyChange, Role,
};
use store::SettingsChange;
use tempfile::TempDir;

use crate::postgres_server::PostgresServer;
use crate::test_support::{Fixture, agent};
use crate::{GroupChange, NewAgentKey, NewToken, NewUser, ProviderChange};

struct Cluster {
    one: Fixture,
    two: Fixture,
    _key: TempDir,
    _postgres: PostgresServer,
}

impl Cluster {
    async fn start() -> Cluster {
        let postgres = tokio::task::spawn_blocking(PostgresServer::start).await.unwrap();
        let (url, key) = (postgres.create_database(), TempDir::new().unwrap());
        let file = key.path().join("key");
        let (one, two) = (Fixture::shared(&url, "one", &file).await, Fixture::shared(&url, "two", &file).await);
        Cluster { one, two, _key: key, _postgres: postgres }
    }

    /// Waits until the change has reached the other server.
    async fn wait_until(&self, what: &str, holds: impl Fn(&Fixture) -> bool) {
        let held = async {
            let mut ticks = tokio::time::interval(Duration::from_millis(5));
            while !holds(&self.two) {
                ticks.tick().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), held).await.unwrap_or_else(|_| panic!("{what}"));
    }
}

fn enabled(threshold: f64) -> KillSwitchChange {
    KillSwitchChange { enabled: Some(true), threshold: Some(threshold), ..KillSwitchChange::default() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn states_of_agents_hold_on_the_other_server() {
    let cluster = Cluster::start().await;
    let (one, two) = (&cluster.one, &cluster.two);
    one.commands().configure(agent(), enabled(4.5)).await.unwrap();
    let threshold = |it: &Fixture| it.guard.agent(&agent()).map(|live| live.kill_switch.threshold);
    cluster.wait_until("settings", |two| threshold(two) == Some(4.5)).await;

    one.commands().deactivate(agent()).await.unwrap();
    cluster.wait_until("a stop by hand", |two| two.guard.refuses(&agent()).is_some()).await;
    // Activated on the server that did not stop the agent.
    two.commands().activate(agent()).await.unwrap();
    assert_eq!(two.guard.agent(&agent()).unwrap().epoch, Epoch(1));
    one.commands().activate(agent()).await.unwrap();
    assert_eq!(one.guard.agent(&agent()).unwrap().epoch, Epoch(1), "it is active already");

    let kill = model::Kill {
        incident: model::IncidentId::at(one.control.0.clock.now()),
        agent: agent(),
        epoch: Epoch(1),
        at: one.control.0.clock.now(),
        score: model::Score::default(),
        kill_switch: one.guard.agent(&agent()).unwrap().kill_switch,
        matches: Vec::new(),
        stuck: model::Stuck::default(),
        window: Vec::new(),
    };
    let (incident_id, at) = (kill.incident, kill.at);
    let provider = "openai".to_owned();
    let (state, model, conversation, evidence) = (IncidentState::Open, None, None, Vec::new());
    let incident = Incident { kill, state, provider, model, conversation, evidence };
    let event = Event::new(CallId::new(), agent(), Epoch(1), EventType::KillSwitch, at);
    assert!(one.handle.kill(incident, event).wait().await);
    let incident_of = |two: &Fixture| two.guard.refuses(&agent()).and_then(|it| it.incident);
    cluster.wait_until("a kill", |two| incident_of(two) == Some(incident_id)).await;

    one.commands().delete_agent(agent()).await.unwrap();
    cluster.wait_until("a deletion", |two| two.guard.agent(&agent()).is_none()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn limits_and_settings_hold_on_the_other_server() {
    let cluster = Cluster::start().await;
    let one = cluster.one.commands();
    let daily = |usd: f64| PolicyChange { budget_daily_usd: Some(Some(usd)), ..PolicyChange::default() };
    one.set_policy(agent(), daily(1.0)).await.unwrap();
    let is_limited = |two: &Fixture| two.guard.policies().counted(&agent()).is_some_and(|limits| limits.is_own());
    cluster.wait_until("a policy", is_limited).await;
    one.reset_policy(agent()).await.unwrap();
    cluster.wait_until("its removal", |two| !is_limited(two)).await;
    one.set_default_policy(daily(2.0)).await.unwrap();
    cluster.wait_until("the default policy", |two| two.guard.policies().default_policy().has_budget()).await;

    let members = Some(vec![AgentPattern::parse("loop*").unwrap()]);
    let group = GroupChange { agents: members, policy: daily(3.0), ..GroupChange::default() };
    one.put_group("loopers".to_owned(), group).await.unwrap();
    cluster.wait_until("a group", |two| two.guard.policies().group("loopers").is_some()).await;
    one.remove_group("loopers".to_owned()).await.unwrap();
    cluster.wait_until("its removal", |two| two.guard.policies().group("loopers").is_none()).await;

    let change = SettingsChange { kill_switch: enabled(3.0), ..SettingsChange::default() };
    one.change_settings(change).await.unwrap();
    cluster.wait_until("settings", |two| two.guard.defaults().threshold == 3.0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn providers_keys_and_people_hold_on_the_other_server() {
    let cluster = Cluster::start().await;
    let one = cluster.one.commands();
    let provider = ProviderChange {
        base_url: Some("https://llm.example".to_owned()),
        format: Some(Format::Openai),
        key: Some("sk-canary".into()),
    };
    one.put_provider("mine".to_owned(), provider).await.unwrap();
    let has_key = |two: &Fixture| two.control.0.providers.get("mine").is_some_and(|it| it.key.is_some());
    cluster.wait_until("a provider with its key", has_key).await;
    one.remove_provider("mine".to_owned()).await.unwrap();
    cluster.wait_until("its removal", |two| two.control.0.providers.get("mine").is_none()).await;

    let new = NewAgentKey { agents: AgentPattern::parse("bot").unwrap(), name: None, expires_at: None };
    let (key, _) = one.create_agent_key(new).await.unwrap();
    cluster.wait_until("an agent key", |two| two.control.0.agent_keys.find(&key.hash).is_some()).await;
    one.revoke_agent_key(key.id).await.unwrap();
    cluster.wait_until("its revocation", |two| two.control.0.agent_keys.find(&key.hash).is_none()).await;

    let new = NewToken { name: "ci".to_owned(), grant: Grant::everywhere(Role::Viewer), expires_at: None };
    let token = one.create_token(new).await.unwrap();
    let holder = |two: &Fixture| two.control.token_holder(secrecy::ExposeSecret::expose_secret(&token.text));
    cluster.wait_until("a token", |two| holder(two).is_some()).await;
    one.revoke_token(token.row.id.clone()).await.unwrap();
    cluster.wait_until("its revocation", |two| holder(two).is_none()).await;

    let new = NewUser { name: "ann".to_owned(), grant: Grant::everywhere(Role::Admin), password: None };
    let user = one.create_user(new).await.unwrap();
    cluster.wait_until("a user", |two| two.control.users().iter().any(|it| it.id == user.id)).await;
}
