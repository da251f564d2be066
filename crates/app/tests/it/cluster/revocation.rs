//! Who may not call or enter any more on one server is refused with the next request on all others.

use bytes::Bytes;
use http::{Method, Request};
use http_body_util::Full;
use serde_json::{Value, json};

use super::sessions::Browser;
use super::{Cluster, Engine};
use crate::support::{Answer, Server, eventually, openai_request, requests};

/// Each is another question, so that none is a repetition.
const TOPICS: [&str; 8] = ["rivers", "bridges", "violins", "taxes", "glaciers", "bees", "radar", "bread"];
const ROUNDS: usize = 24;

async fn ask(server: &Server, agent: &str, key: &str, topic: &str) -> Answer {
    let body = openai_request(&format!("Tell me what you know about {topic}")).to_string();
    let request = Request::post(format!("{}/agents/{agent}/openai/v1/chat/completions", server.proxy))
        .header("content-type", "application/json")
        .header("authorization", format!("Bearer {key}"));
    server.http.send(request.body(Full::new(Bytes::from(body))).unwrap()).await.unwrap()
}

async fn status(server: &Server, token: &str) -> u16 {
    server.api_as(token, Method::GET, "/api/status", None).await.status.as_u16()
}

/// A key for one agent, or for several.
pub(super) async fn revoked_key_is_refused_by_the_next_call(engine: Engine, agent: &str) {
    let cluster = Cluster::start(engine, &["proxy.require_key=always"]).await;
    for server in &cluster.servers {
        server.api(Method::PUT, "/api/providers/openai", Some(json!({"key": "sk-stored"}))).await;
    }
    for round in 0..ROUNDS {
        let agent = format!("{agent}.{round}");
        let pattern = if round % 2 == 0 { agent.clone() } else { "*".to_owned() };
        let [one, others @ ..] = &cluster.servers[..] else { panic!("three servers") };
        let made = one.api(Method::POST, "/api/agent-keys", Some(json!({"agent": pattern}))).await;
        let (id, key) = (made["id"].as_str().unwrap(), made["key"].as_str().unwrap());
        for (server, topic) in others.iter().zip(TOPICS) {
            eventually("the key is known", async || {
                (ask(server, &agent, key, topic).await.status == 200).then_some(())
            })
            .await;
        }
        let before = requests(&cluster.provider);
        one.api(Method::DELETE, &format!("/api/agent-keys/{id}"), None).await;
        for (server, topic) in others.iter().zip(&TOPICS[4..]) {
            let refused = ask(server, &agent, key, topic).await;
            assert_eq!(refused.status, 401, "round {round}: {refused:?}");
            let shown = (refused.header("x-should-retry"), &refused.json()["block_reason"]);
            assert_eq!(shown, ("false", &json!("unauthorized")));
        }
        assert_eq!(requests(&cluster.provider), before, "round {round}: a call was sent");
    }
}

pub(super) async fn stopped_group_is_refused_by_the_next_call(engine: Engine, agent: &str) {
    let cluster = Cluster::start(engine, &[]).await;
    let [one, others @ ..] = &cluster.servers[..] else { panic!("three servers") };
    for round in 0..ROUNDS / 2 {
        let (group, agent) = (format!("{agent}-{round}"), format!("{agent}.{round}"));
        one.api(Method::PUT, &format!("/api/groups/{group}"), Some(json!({"agents": [agent]}))).await;
        for (server, topic) in others.iter().zip(TOPICS) {
            assert_eq!(ask(server, &agent, "sk-own", topic).await.status, 200);
        }
        one.api(Method::POST, &format!("/api/groups/{group}/stop"), None).await;
        for (server, topic) in others.iter().zip(&TOPICS[4..]) {
            let refused = ask(server, &agent, "sk-own", topic).await;
            assert!(refused.is_inactive_response(), "round {round}: {refused:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn revoked_token_and_demoted_user_are_refused_by_the_next_request() {
    let cluster = Cluster::start(Engine::Postgres, &[]).await;
    let [one, two, _] = &cluster.servers[..] else { panic!("three servers") };
    let user = json!({"name": "ann", "role": "admin", "password": "a-password-of-the-test"});
    let user = one.api(Method::POST, "/api/users", Some(user)).await["id"].as_str().unwrap().to_owned();
    // After ten logins and wrong tokens the next ones have to wait.
    for round in 0..5 {
        let new = json!({"name": format!("ci-{round}"), "role": "viewer"});
        let made: Value = one.api(Method::POST, "/api/tokens", Some(new)).await;
        let (id, token) = (made["id"].as_str().unwrap(), made["token"].as_str().unwrap());
        eventually("the token is known", async || two.get("/api/tokens").await.to_string().contains(id).then_some(()))
            .await;
        assert_eq!(status(two, token).await, 200);
        one.api(Method::DELETE, &format!("/api/tokens/{id}"), None).await;
        assert_eq!(status(two, token).await, 401, "round {round}");

        let role = |role: &str| Some(json!({"role": role}));
        let path = format!("/api/users/{user}");
        one.api(Method::PATCH, &path, role("admin")).await;
        let browser = Browser::log_in(two, "name=ann&password=a-password-of-the-test").await;
        assert_eq!(browser.send(two, Method::GET, "/api/users", "").await.status, 200, "round {round}");
        one.api(Method::PATCH, &path, role("viewer")).await;
        let refused = browser.send(two, Method::GET, "/api/users", "").await.status;
        assert_eq!(refused, 401, "round {round}: a new role ends the session");
    }
}
