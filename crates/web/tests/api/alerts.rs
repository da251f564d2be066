//! Channels, rules and the history of alerts.

use axum::http::{Method, StatusCode};
use model::{ChannelId, ChannelSettings};
use secrecy::ExposeSecret;
use serde_json::{Value, json};

use crate::pages::Browser;
use crate::server::{Answer, Server};

async fn post(server: &Server, path: &str, body: Value) -> Answer {
    server.ask(Method::POST, path, Some(body)).await
}

async fn made(server: &Server, path: &str, body: Value) -> Value {
    let answer = post(server, path, body).await;
    assert_eq!(answer.status, StatusCode::CREATED, "{}", answer.text);
    answer.json()
}

async fn webhook(server: &Server, name: &str) -> String {
    let body = json!({"kind": "webhook", "name": name, "url": "https://example.com/hook"});
    made(server, "/api/channels", body).await["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_webhook_gets_its_secret_once() {
    let server = Server::start().await;
    let body = json!({"kind": "webhook", "name": "ops", "url": "https://example.com/hook?key=1"});
    let channel = made(&server, "/api/channels", body).await;
    let secret = channel["secret"].as_str().unwrap();
    assert!(secret.starts_with("whsec_") && secret.len() > 40, "{secret}");
    assert_eq!(channel["url"], "https://example.com/…");

    let path = format!("/api/channels/{}", channel["id"].as_str().unwrap());
    let shown = server.json(&path).await;
    assert_eq!((&shown["secret"], &shown["enabled"], &shown["kind"]), (&Value::Null, &json!(true), &json!("webhook")));
    assert_eq!(server.json("/api/channels").await["items"], json!([shown]));
    let changed = server.patch(&path, json!({"name": "night shift", "enabled": false})).await.json();
    assert_eq!((&changed["name"], &changed["enabled"]), (&json!("night shift"), &json!(false)));
    assert_eq!(server.ask(Method::DELETE, &path, None).await.status, StatusCode::NO_CONTENT);
    assert_eq!(server.get(&path).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn chat_secrets_are_never_shown() {
    let server = Server::start().await;
    for body in [
        json!({"kind": "slack", "name": "s", "url": "https://hooks.slack.com/services/T1/B1/canary"}),
        json!({"kind": "discord", "name": "d", "url": "https://discord.com/api/webhooks/1/canary"}),
        json!({"kind": "telegram", "name": "t", "bot_token": "123:canary", "chat_id": -100}),
        json!({"kind": "email", "name": "e", "to": "ops@example.com"}),
    ] {
        let channel = made(&server, "/api/channels", body).await;
        assert!(!channel.to_string().contains("canary"), "{channel}");
    }
    let channels = server.json("/api/channels").await;
    assert!(!channels.to_string().contains("canary"), "{channels}");
    assert_eq!(channels["items"][0]["url"], "https://discord.com/…");
    assert_eq!(channels["items"][1]["to"], json!(["ops@example.com"]));
    assert_eq!(channels["items"][3]["chat_id"], "-100");
}

/// The address as it is stored.
async fn stored_url(server: &Server, id: &str) -> String {
    let id = ChannelId::parse(id).unwrap();
    match server.web.store.channel(id).await.unwrap().unwrap().settings.unwrap() {
        ChannelSettings::Webhook { url, .. } | ChannelSettings::Telegram { url, .. } => url,
        ChannelSettings::Slack { url } | ChannelSettings::Discord { url } => url.expose_secret().to_owned(),
        ChannelSettings::Email { .. } => panic!("no address"),
    }
}

#[tokio::test]
async fn address_of_a_channel_is_masked_and_its_mask_keeps_it() {
    let server = Server::start().await;
    let long = "https://example.com/canary/0123456789abcdef";
    for body in [
        json!({"kind": "webhook", "name": "w", "url": long}),
        json!({"kind": "slack", "name": "s", "url": long}),
        json!({"kind": "discord", "name": "d", "url": long}),
        json!({"kind": "telegram", "name": "t", "url": long, "bot_token": "123:canary", "chat_id": 1}),
    ] {
        let channel = made(&server, "/api/channels", body).await;
        let id = channel["id"].as_str().unwrap();
        let path = format!("/api/channels/{id}");
        let shown = server.json(&path).await;
        assert_eq!(shown["url"], "https://example.com/…cdef", "{shown}");
        for fields in [json!({"name": shown["name"], "url": shown["url"]}), json!({"enabled": false})] {
            assert_eq!(server.patch(&path, fields).await.status, StatusCode::OK);
            assert_eq!(stored_url(&server, id).await, long);
        }
        let refused = server.patch(&path, json!({"url": "https://example.com/…0000"})).await;
        assert_eq!((refused.status, &refused.json()["field"]), (StatusCode::BAD_REQUEST, &json!("url")));
        assert_eq!(stored_url(&server, id).await, long);
    }
    let listed = server.get("/api/channels").await.text;
    let everything = listed + &Browser::new(&server).await.get("/alerts").await.text;
    assert!(!everything.contains("canary") && everything.contains("https://example.com/…cdef"), "{everything}");
}

#[tokio::test]
async fn a_wrong_channel_names_its_field_and_changes_nothing() {
    let server = Server::start().await;
    webhook(&server, "taken").await;
    let url = "https://example.com/hook";
    for (body, field) in [
        (json!({"name": "x", "url": url}), "kind"),
        (json!({"kind": "pigeon", "name": "x"}), "kind"),
        (json!({"kind": "webhook", "url": url}), "name"),
        (json!({"kind": "webhook", "name": "", "url": url}), "name"),
        (json!({"kind": "webhook", "name": "taken", "url": url}), "name"),
        (json!({"kind": "webhook", "name": "x"}), "url"),
        (json!({"kind": "webhook", "name": "x", "url": url, "to": ["a@x"]}), "to"),
        (json!({"kind": "webhook", "name": "x", "url": url, "secret": "whsec_x"}), "secret"),
        (json!({"kind": "email", "name": "x"}), "to"),
        (json!({"kind": "email", "name": "x", "to": ["a@x\r\nBcc: b@y"]}), "to"),
        (json!({"kind": "email", "name": "x", "to": 7}), "to"),
        (json!({"kind": "telegram", "name": "x", "chat_id": "1"}), "bot_token"),
        (json!({"kind": "telegram", "name": "x", "bot_token": "1:a", "chat_id": "a b"}), "chat_id"),
    ] {
        let answer = post(&server, "/api/channels", body.clone()).await;
        assert_eq!((answer.status, &answer.json()["field"]), (StatusCode::BAD_REQUEST, &json!(field)), "{body}");
    }
    assert_eq!(server.json("/api/channels").await["items"].as_array().unwrap().len(), 1);
}

/// Every field that becomes a URL; the spellings themselves are tested in `model::Target`.
#[tokio::test]
async fn private_targets_and_invalid_urls_are_refused() {
    let server = Server::start().await;
    let private = [
        "http://127.0.0.1/",
        "http://127.1/",
        "http://2130706433/",
        "http://0x7f000001/",
        "http://017700000001/",
        "http://localhost./",
        "http://[::1]/",
        "http://[::ffff:169.254.169.254]/",
        "http://[64:ff9b::a9fe:a9fe]/",
        "http://[2002:a9fe:a9fe::]/",
        "http://100.64.0.1/",
        "http://[fec0::1]/",
        "http://169.254.169.254/latest/meta-data/",
        "https://intranet.test/",
        "https://INTRANET.test./",
    ];
    let malformed = [
        "ftp://example.com/",
        "http://u:p@example.com/",
        "file:///etc/passwd",
        "example.com",
        "http://a b/",
        "http://",
    ];
    let telegram = |url: &str| json!({"kind": "telegram", "name": "t", "bot_token": "1:a", "chat_id": 1, "url": url});
    let plain = |kind: &str, url: &str| json!({"kind": kind, "name": "x", "url": url});
    for url in private.iter().chain(&malformed) {
        for body in [plain("webhook", url), plain("slack", url), plain("discord", url), telegram(url)] {
            let answer = post(&server, "/api/channels", body.clone()).await;
            assert_eq!((answer.status, &answer.json()["field"]), (StatusCode::BAD_REQUEST, &json!("url")), "{body}");
        }
    }
    // A provider is the operator's own: it may be on this machine, but must be a web address
    // without credentials.
    for url in malformed {
        let answer = server.put("/api/providers/mine", json!({"format": "openai", "base_url": url})).await;
        assert_eq!((answer.status, &answer.json()["field"]), (StatusCode::BAD_REQUEST, &json!("base_url")), "{url}");
    }
    let id = webhook(&server, "ops").await;
    let moved = server.patch(&format!("/api/channels/{id}"), json!({"url": "http://10.0.0.1/"})).await;
    assert_eq!(moved.json()["field"], "url");
    assert_eq!(stored_url(&server, &id).await, "https://example.com/hook");
}

/// Whether a name that leads nowhere will lead to a private address is found out when it is called.
#[tokio::test]
async fn target_name_that_is_public_or_unresolved_is_accepted() {
    let server = Server::start().await;
    for url in ["https://both.test/", "https://nowhere.test/"] {
        let answer = post(&server, "/api/channels", json!({"kind": "webhook", "name": url, "url": url})).await;
        assert_eq!(answer.status, StatusCode::CREATED, "{}", answer.text);
    }
    let id = webhook(&server, "ops").await;
    let moved = server.patch(&format!("/api/channels/{id}"), json!({"url": "https://intranet.test/"})).await;
    assert_eq!((moved.status, &moved.json()["field"]), (StatusCode::BAD_REQUEST, &json!("url")));
    assert!(moved.text.contains("leads to 10.0.0.7"), "{}", moved.text);
}

#[tokio::test]
async fn a_bots_token_is_not_sent_to_another_host() {
    let server = Server::start().await;
    let body = json!({"kind": "telegram", "name": "t", "bot_token": "1:a", "chat_id": 1});
    let path = format!("/api/channels/{}", made(&server, "/api/channels", body).await["id"].as_str().unwrap());
    let moved = server.patch(&path, json!({"url": "https://evil.test"})).await;
    assert_eq!((moved.status, &moved.json()["field"]), (StatusCode::BAD_REQUEST, &json!("bot_token")));
    let moved = server.patch(&path, json!({"url": "https://mine.test", "bot_token": "2:b"})).await;
    assert_eq!(moved.json()["url"], "https://mine.test");
}

#[tokio::test]
async fn rule_is_created_changed_and_deleted() {
    let server = Server::start().await;
    let channel = webhook(&server, "ops").await;
    let body = json!({"agent_id": "my-agent", "rule_type": "kill_switch", "channels": [channel]});
    let rule = made(&server, "/api/alerts", body).await;
    let path = format!("/api/alerts/{}", rule["id"].as_str().unwrap());
    assert_eq!((&rule["cooldown_minutes"], &rule["repeat_minutes"]), (&json!(15), &Value::Null));
    assert_eq!((&rule["notify_recovery"], &rule["enabled"]), (&json!(false), &json!(true)));
    assert_eq!(server.json("/api/alerts").await["items"], json!([rule]));
    let changed = server.patch(&path, json!({"repeat_minutes": 30, "enabled": false, "agent_id": "*"})).await.json();
    assert_eq!(
        (&changed["repeat_minutes"], &changed["enabled"], &changed["agent_id"]),
        (&json!(30), &json!(false), &json!("*"))
    );
    assert_eq!(server.patch(&path, json!({"repeat_minutes": null})).await.json()["repeat_minutes"], Value::Null);
    let rate = json!({"rule_type": "error_rate", "percent": 20, "minutes": 5});
    let rate = made(&server, "/api/alerts", rate).await;
    assert_eq!((&rate["percent"], &rate["minutes"], &rate["agent_id"]), (&json!(20.0), &json!(5), &json!("*")));
    let budget =
        made(&server, "/api/alerts", json!({"rule_type": "budget", "amount_usd": 2.5, "period": "week"})).await;
    assert_eq!((&budget["amount_usd"], &budget["period"]), (&json!(2.5), &json!("week")));
    // A percent of the agent's own budget takes the place of an amount, and the other way round.
    let budget = format!("/api/alerts/{}", budget["id"].as_str().unwrap());
    for (change, percent, amount) in [
        (json!({"percent": 80}), json!(80.0), json!(null)),
        (json!({"cooldown_minutes": 5}), json!(80.0), json!(null)),
        (json!({"amount_usd": 3, "period": "day"}), json!(null), json!(3.0)),
        (json!({"period": "month"}), json!(null), json!(3.0)),
    ] {
        let rule = server.ask(Method::PATCH, &budget, Some(change.clone())).await.json();
        assert_eq!((&rule["percent"], &rule["amount_usd"]), (&percent, &amount), "{change}");
    }
    assert_eq!(server.ask(Method::DELETE, &path, None).await.status, StatusCode::NO_CONTENT);
    assert_eq!(server.get(&path).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_wrong_rule_names_its_field_and_changes_nothing() {
    let server = Server::start().await;
    for (body, field) in [
        (json!({}), "rule_type"),
        (json!({"rule_type": "boredom"}), "rule_type"),
        (json!({"rule_type": "budget"}), "amount_usd"),
        (json!({"rule_type": "budget", "amount_usd": 5}), "period"),
        (json!({"rule_type": "budget", "amount_usd": 5, "period": "year"}), "period"),
        (json!({"rule_type": "budget", "amount_usd": 0, "period": "day"}), "amount_usd"),
        (json!({"rule_type": "budget", "amount_usd": 5, "period": "day", "minutes": 5}), "minutes"),
        (json!({"rule_type": "budget", "percent": 101}), "percent"),
        (json!({"rule_type": "budget", "percent": 80, "amount_usd": 5, "period": "day"}), "percent"),
        (json!({"rule_type": "budget", "percent": 80, "minutes": 5}), "minutes"),
        (json!({"rule_type": "kill_switch", "agent_id": "a b"}), "agent_id"),
        (json!({"rule_type": "kill_switch", "channels": ["01a1e113-cde6-7655-bec5-72125b2b0e22"]}), "channels"),
        (json!({"rule_type": "kill_switch", "channels": ["ops"]}), "channels[0]"),
        (json!({"rule_type": "kill_switch", "minutes": 5}), "minutes"),
        (json!({"rule_type": "kill_switch", "cooldown_minutes": 99999}), "cooldown_minutes"),
        (json!({"rule_type": "kill_switch", "repeat_minutes": 0}), "repeat_minutes"),
        (json!({"rule_type": "kill_switch", "loud": true}), "loud"),
        (json!({"rule_type": "agent_down"}), "minutes"),
        (json!({"rule_type": "agent_down", "minutes": 0}), "minutes"),
        (json!({"rule_type": "agent_down", "minutes": 5, "percent": 5}), "percent"),
        (json!({"rule_type": "error_rate", "minutes": 5}), "percent"),
        (json!({"rule_type": "error_rate", "minutes": 5, "percent": 101}), "percent"),
    ] {
        let answer = post(&server, "/api/alerts", body.clone()).await;
        assert_eq!((answer.status, &answer.json()["field"]), (StatusCode::BAD_REQUEST, &json!(field)), "{body}");
    }
    assert_eq!(server.json("/api/alerts").await["items"], json!([]));
}

#[tokio::test]
async fn history_lists_alerts_of_a_kill() {
    let server = Server::start().await;
    webhook(&server, "ops").await;
    let incident = server.kill("looper").await;
    let page = server.json(&format!("/api/alert-history?incident={incident}&state=queued")).await;
    let [delivery] = page["items"].as_array().unwrap().as_slice() else { panic!("{page}") };
    assert_eq!((&delivery["type"], &delivery["agent_id"]), (&json!("agent.killed"), &json!("looper")));
    assert_eq!((&delivery["channel"], &delivery["kind"]), (&json!("ops"), &json!("webhook")));
    assert_eq!((&delivery["attempts"], &delivery["rule_id"]), (&json!([]), &Value::Null));
    let path = format!("/api/alert-history/{}", delivery["id"].as_str().unwrap());
    assert_eq!(&server.json(&path).await, delivery);
    let early = server.ask(Method::POST, &format!("{path}/retry"), None).await;
    assert_eq!(early.status, StatusCode::CONFLICT, "only what has failed");
    assert_eq!(server.json("/api/alert-history?state=delivered").await["items"], json!([]));
    assert_eq!(server.get("/api/alert-history?state=lost").await.json()["field"], "state");
}

/// Scenario: Notification check on enable.
#[tokio::test]
async fn notification_check_on_enable() {
    let server = Server::start().await;
    let configured =
        || async { server.json("/api/agents/my-agent/kill-switch").await["notifications_configured"].clone() };
    server.put("/api/agents/my-agent/kill-switch", json!({"enabled": true})).await;
    assert_eq!(configured().await, false);
    let channel = webhook(&server, "ops").await;
    assert_eq!(configured().await, true);
    made(&server, "/api/alerts", json!({"rule_type": "kill_switch", "agent_id": "my-agent", "enabled": false})).await;
    assert_eq!(configured().await, false);
    made(&server, "/api/alerts", json!({"rule_type": "kill_switch", "channels": [channel]})).await;
    assert_eq!(configured().await, true);
    server.patch(&format!("/api/channels/{channel}"), json!({"enabled": false})).await;
    assert_eq!(configured().await, false);
}
