//! Sessions of the dashboard that one server opens or ends, and all servers know.

use bytes::Bytes;
use http::{Method, Request};
use http_body_util::Full;
use serde_json::json;

use super::{Cluster, Engine};
use crate::support::{Answer, Server};

/// A browser whose requests may go to any server.
pub(super) struct Browser {
    cookie: String,
}

impl Browser {
    /// Logs in at `server` with a form.
    pub(super) async fn log_in(server: &Server, form: &str) -> Browser {
        let answer = Browser { cookie: String::new() }.send(server, Method::POST, "/login", form).await;
        let cookie = answer.header("set-cookie").split(';').next().unwrap_or_default().to_owned();
        assert!(cookie.starts_with("agentgazer_session="), "{answer:?}");
        Browser { cookie }
    }

    pub(super) async fn send(&self, server: &Server, method: Method, path: &str, form: &str) -> Answer {
        let request = Request::builder().method(method).uri(format!("{}{path}", server.dashboard));
        let request = request.header("cookie", &self.cookie).header("origin", &server.dashboard);
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        server.http.send(request.body(Full::new(Bytes::from(form.to_owned()))).unwrap()).await.unwrap()
    }

    /// Whether each server accepts its session.
    async fn known_by(&self, cluster: &Cluster) -> Vec<bool> {
        let mut known = Vec::new();
        for server in &cluster.servers {
            let answer = self.send(server, Method::GET, "/api/agents", "").await;
            assert!(answer.status == 200 || answer.status == 401, "{answer:?}");
            known.push(answer.status == 200);
        }
        known
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn session_holds_and_ends_on_every_server() {
    let cluster = Cluster::start(Engine::Postgres, &[]).await;
    let [one, two, three] = &cluster.servers[..] else { panic!("three servers") };
    let login = format!("token={}", one.token);
    let browser = Browser::log_in(one, &login).await;
    assert_eq!(browser.known_by(&cluster).await, [true; 3]);
    browser.send(two, Method::POST, "/logout", "").await;
    assert_eq!(browser.known_by(&cluster).await, [false; 3], "logged out at another server");

    // A person ends the session of another browser.
    let browser = Browser::log_in(two, &login).await;
    assert_eq!(browser.known_by(&cluster).await, [true; 3]);
    let listed = three.get("/api/sessions").await;
    let id = listed["items"][0]["id"].as_str().unwrap();
    three.api(Method::DELETE, &format!("/api/sessions/{id}"), None).await;
    assert_eq!(browser.known_by(&cluster).await, [false; 3], "revoked at a third one");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn new_password_ends_sessions_on_every_server() {
    let cluster = Cluster::start(Engine::Postgres, &[]).await;
    let [one, two, _] = &cluster.servers[..] else { panic!("three servers") };
    let user = json!({"name": "ann", "role": "viewer", "password": "a-password-of-the-test"});
    let id = one.api(Method::POST, "/api/users", Some(user)).await["id"].as_str().unwrap().to_owned();
    let browser = Browser::log_in(one, "name=ann&password=a-password-of-the-test").await;
    crate::support::eventually("all servers know the user", async || {
        (browser.known_by(&cluster).await == [true; 3]).then_some(())
    })
    .await;
    let change = json!({"password": "another-password-of-the-test"});
    two.api(Method::PATCH, &format!("/api/users/{id}"), Some(change)).await;
    assert_eq!(browser.known_by(&cluster).await, [false; 3]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn session_outlives_the_server_that_opened_it() {
    let mut cluster = Cluster::start(Engine::Postgres, &[]).await;
    let browser = Browser::log_in(&cluster.servers[0], &format!("token={}", cluster.servers[0].token)).await;
    drop(cluster.servers.remove(0).kill());
    assert_eq!(browser.known_by(&cluster).await, [true; 2]);
}
