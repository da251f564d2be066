//! Alerts: channels, tests, drills, and a crash.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::support::{MailServer, Receiver, Server, ServerBuilder, eventually, openai_request, provider};

async fn channel(server: &Server, name: &str, url: &str) -> Value {
    let body = json!({"kind": "webhook", "name": name, "url": url});
    server.api(Method::POST, "/api/channels", Some(body)).await
}

/// Repeats a call until the agent is killed, and returns the incident.
async fn kill(server: &Server, name: &str) -> String {
    let agent = server.agent(name);
    for _ in 0..100 {
        let answer = agent.chat(&openai_request("Why does the import fail?")).await;
        if answer.is_inactive_response() {
            return answer.json()["incident_id"].as_str().unwrap().to_owned();
        }
    }
    panic!("{name} is never killed");
}

// The receiver answers while the test waits for a command.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kill_alerts_without_any_rule_and_commands_show_it() {
    let provider = provider().await;
    let receiver = Receiver::start(StatusCode::OK, Duration::ZERO).await;
    let server = ServerBuilder::new(&provider.url()).arguments(&["--allow-private-targets"]).start();
    assert!(server.run(&["alerts"]).said().contains("no one is notified"));
    let made = channel(&server, "ops", &receiver.url).await;
    let said = server.run(&["alerts", "test", "ops"]);
    assert_eq!(said.said(), "ops took the test: 200 thank you\n");
    assert_eq!(server.run(&["alerts", "test", "nobody"]).code, Some(4));
    assert!(server.run(&["alerts"]).said().contains(made["id"].as_str().unwrap()));

    server.kill_switch("looper", json!({"enabled": true})).await;
    let incident = kill(&server, "looper").await;
    let received = receiver.until(|all| all.len() == 2).await;
    assert_eq!(received[0].body["type"], "alerts.test");
    let data = &received[1].body["data"];
    assert_eq!((&data["agent_id"], &data["incident_id"]), (&json!("looper"), &json!(incident)));
    assert_eq!(data["url"], format!("{}/incidents/{incident}", server.dashboard));
    let delivered = eventually("delivered", || async {
        let page = server.get(&format!("/api/alert-history?incident={incident}&state=delivered")).await;
        page["items"].as_array().unwrap().first().cloned()
    });
    assert_eq!(delivered.await["id"], received[1].id);
    assert!(!server.log().contains("whsec_"));
}

#[tokio::test]
async fn kill_alerts_by_mail() {
    let provider = provider().await;
    let mails = MailServer::start().await;
    let port = format!("smtp.port={}", mails.port);
    let settings = ["smtp.host=127.0.0.1", &port, "smtp.security=none", "smtp.from=AgentGazer <gazer@example.com>"];
    let arguments: Vec<&str> = settings.iter().flat_map(|setting| ["--set", setting]).collect();
    let server = ServerBuilder::new(&provider.url()).arguments(&arguments).start();
    let body = json!({"kind": "email", "name": "on call", "to": ["ops@example.com", "dev@example.com"]});
    let channel = server.api(Method::POST, "/api/channels", Some(body)).await;
    let test = format!("/api/channels/{}/test", channel["id"].as_str().unwrap());
    assert_eq!(server.api(Method::POST, &test, None).await["state"], "delivered");

    server.kill_switch("looper", json!({"enabled": true})).await;
    let incident = kill(&server, "looper").await;
    let mail = mails.until(2).await.remove(1);
    assert_eq!(mail.to, ["ops@example.com", "dev@example.com"]);
    let link = format!("{}/incidents/{incident}", server.dashboard);
    for said in ["Subject: [AgentGazer] looper was stopped", "text/plain", "text/html", &link] {
        assert!(mail.text.replace("=\n", "").contains(said), "{said}: {}", mail.text);
    }
}

#[tokio::test]
async fn a_private_target_is_refused_unless_the_operator_allows_it() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    let body = json!({"kind": "webhook", "name": "ops", "url": "http://127.0.0.1:9/"});
    let refused = server.try_api(Method::POST, "/api/channels", Some(body)).await.unwrap();
    assert_eq!((refused.status.as_u16(), &refused.json()["field"]), (400, &json!("url")));
}

// The receiver answers while the test waits for a command.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn drill_reports_every_channel_and_cleans_up() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).arguments(&["--allow-private-targets"]).start();
    let alone = server.run(&["drill"]);
    assert_eq!(alone.code, Some(1), "{alone:?}");
    assert!(alone.stderr.contains("no one would be notified"), "{alone:?}");

    let receiver = Receiver::start(StatusCode::OK, Duration::ZERO).await;
    channel(&server, "ops", &receiver.url).await;
    let report = server.run(&["drill", "--json"]).json();
    assert_eq!((&report["activated"], &report["channels"][0]["state"]), (&json!(true), &json!("delivered")));
    assert!(report["channels"][0]["after_ms"].is_u64());
    assert_eq!(report["links_are_local"], json!(true));
    assert_eq!(receiver.all()[0].body["data"]["incident_id"], report["incident_id"]);

    let broken = Receiver::start(StatusCode::INTERNAL_SERVER_ERROR, Duration::ZERO).await;
    channel(&server, "broken", &broken.url).await;
    let failed = server.run(&["drill"]);
    assert_eq!(failed.code, Some(1), "{failed:?}");
    assert!(failed.stderr.contains("not reached: broken"), "{failed:?}");
    assert!(failed.stdout.contains("500 thank you"), "{failed:?}");
    let links = format!("links       lead to {}, which only this machine can open: set public_url", server.dashboard);
    assert!(failed.stdout.contains(&links), "{failed:?}");

    assert_eq!(server.get("/api/agents").await["items"], json!([]));
    assert_eq!(server.get("/api/incidents").await["items"], json!([]));
    let providers = server.get("/api/providers").await.to_string();
    assert!(!providers.contains("drill"), "{providers}");
    let stats = server.get("/api/stats/overview?range=24h").await;
    assert!(stats["requests"].as_u64() > Some(0), "its calls are counted: {stats}");
    assert_eq!((&stats["cost_usd"], &stats["unpriced_requests"]), (&json!(0.0), &json!(0)), "a drill costs nothing");
}

/// A thousand kills are queued, the server dies while it delivers them, and every one is still
/// delivered.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crash_loses_no_alert_and_repeats_only_with_the_same_id() {
    const KILLS: usize = 1000;
    let provider = provider().await;
    let receiver = Receiver::start(StatusCode::OK, Duration::from_millis(2)).await;
    let settings = ["kill_switch.enabled=true", "kill_switch.threshold=0.5", "kill_switch.counting=literal"];
    let settings: Vec<&str> = settings.iter().flat_map(|setting| ["--set", setting]).collect();
    let arguments = [&["--allow-private-targets", "--set", "alerts.digest_window=0"], settings.as_slice()].concat();
    let server = ServerBuilder::new(&provider.url()).arguments(&arguments).start();
    channel(&server, "ops", &receiver.url).await;

    let mut incidents = BTreeSet::new();
    for round in 0..KILLS / 50 {
        let names: Vec<String> = (0..50).map(|number| format!("agent-{round}-{number}")).collect();
        incidents.extend(futures_join(names.iter().map(|name| kill(&server, name))).await);
    }
    assert_eq!(incidents.len(), KILLS);
    let told = receiver.until(|all| all.len() >= 100).await.len();
    server.signal("KILL");
    assert!(told < KILLS, "all was told before the crash: the test tested nothing");
    let server = server.kill().start();

    let complete = |all: &[crate::support::Received]| {
        all.iter().map(|it| it.body["data"]["incident_id"].as_str().unwrap()).collect::<BTreeSet<_>>().len() == KILLS
    };
    let received = receiver.until(complete).await;
    let mut ids: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for alert in &received {
        let incident = alert.body["data"]["incident_id"].as_str().unwrap().to_owned();
        ids.entry(incident).or_default().insert(alert.id.clone());
    }
    assert!(ids.values().all(|ids| ids.len() == 1), "one id for each alert, however often it was sent");
    assert_eq!(ids.keys().cloned().collect::<BTreeSet<_>>(), incidents);
    eventually("all on record", || async {
        let page = server.get("/api/alert-history?state=queued&limit=1").await;
        page["items"].as_array().unwrap().is_empty().then_some(())
    })
    .await;
}

/// Runs all of them at once.
async fn futures_join<T>(futures: impl Iterator<Item = impl Future<Output = T>>) -> Vec<T> {
    let mut pending: Vec<_> = futures.map(Box::pin).collect();
    let mut done: Vec<Option<T>> = pending.iter().map(|_| None).collect();
    std::future::poll_fn(|cx| {
        for (future, slot) in pending.iter_mut().zip(&mut done) {
            if slot.is_none()
                && let std::task::Poll::Ready(value) = future.as_mut().poll(cx)
            {
                *slot = Some(value);
            }
        }
        if done.iter().all(Option::is_some) { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    done.into_iter().flatten().collect()
}
