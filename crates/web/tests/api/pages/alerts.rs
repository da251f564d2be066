//! Channels, rules and their history on the page of alerts.

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};

use super::Browser;
use crate::server::Server;

const WEBHOOK: &str = "kind=webhook&name=ops&url=https%3A%2F%2Fhooks.example.com%2Fa";

#[tokio::test]
async fn a_channel_is_added_and_its_secret_is_shown_once() {
    let server = Server::start().await;
    let browser = Browser::new(&server).await;
    assert!(browser.page("/alerts").await.contains("No one is notified of kills."));
    let added = browser.post("/alerts/channels", WEBHOOK).await;
    assert_eq!(added.status, StatusCode::OK);
    assert!(
        added.text.contains("whsec_") && added.text.contains("1 channel is notified of every kill."),
        "{}",
        added.text
    );
    let text = browser.page("/alerts").await;
    assert!(text.contains("https://hooks.example.com/…") && !text.contains("whsec_"), "{text}");

    let again = browser.post("/alerts/channels", WEBHOOK).await;
    assert_eq!(again.status, StatusCode::BAD_REQUEST);
    assert!(again.text.contains("Name is taken"), "{}", again.text);
    let wrong = browser.post("/alerts/channels", "kind=webhook&name=other").await;
    assert!(wrong.text.contains("Address must be given"), "{}", wrong.text);
    assert!(wrong.text.contains("maxlength=\"100\" value=\"other\""), "what was typed stays: {}", wrong.text);
}

/// Seeds: “Notification check on enable”, with a channel.
#[tokio::test]
async fn with_a_channel_nothing_is_asked_on_enable() {
    let server = Server::start().await;
    let browser = Browser::new(&server).await;
    browser.post("/alerts/channels", WEBHOOK).await;
    server.put("/api/agents/heard/kill-switch", serde_json::json!({})).await;
    let fields = "enabled=on&window_size=20&threshold=10&action=deactivate&counting=adaptive";
    browser
        .submit(
            "/agents/heard/kill-switch",
            fields,
            "/agents/heard?done=switched-on&undo=off,20,10,deactivate,adaptive",
        )
        .await;
}

#[tokio::test]
async fn channels_and_rules_are_switched_and_deleted() {
    let server = Server::start().await;
    let browser = Browser::new(&server).await;
    browser.post("/alerts/channels", WEBHOOK).await;
    let channel = server.json("/api/channels").await["items"][0]["id"].as_str().unwrap().to_owned();
    let rule = format!("rule_type=error_rate&agent_id=&channel={channel}&minutes=5&percent=50&cooldown_minutes=");
    browser.submit("/alerts/rules", &rule, "/alerts?done=alerts").await;
    let text = browser.page("/alerts").await;
    assert!(text.contains("50 % of the calls in 5 minutes fail") && text.contains("all agents"), "{text}");
    let wrong = browser.post("/alerts/rules", "rule_type=agent_down&agent_id=x&minutes=soon").await;
    assert_eq!(wrong.status, StatusCode::BAD_REQUEST);
    assert!(wrong.text.contains("Minutes must be a whole number"), "{}", wrong.text);
    for kept in ["name=\"rule_type\" value=\"agent_down\"", "name=\"agent_id\" value=\"x\"", "value=\"soon\""] {
        assert!(wrong.text.contains(kept), "{kept}: what was typed stays");
    }
    browser.submit("/alerts/rules", "rule_type=budget&agent_id=&percent=80", "/alerts?done=alerts").await;
    assert!(browser.page("/alerts").await.contains("80 % of a budget is spent"));

    let rule = server.json("/api/alerts").await["items"][0]["id"].as_str().unwrap().to_owned();
    let off = format!("/alerts?done=rule-off&undo={rule}");
    browser.submit(&format!("/alerts/rules/{rule}/switch"), "enabled=false", &off).await;
    assert_eq!(server.json("/api/alerts").await["items"][0]["enabled"], false);
    browser.submit(&format!("/alerts/rules/{rule}/delete"), "", "/alerts?done=deleted").await;
    let off = format!("/alerts?done=channel-off&undo={channel}");
    browser.submit(&format!("/alerts/channels/{channel}/switch"), "enabled=false", &off).await;
    assert_eq!(server.json("/api/channels").await["items"][0]["enabled"], false);
    browser.submit(&format!("/alerts/channels/{channel}/delete"), "", "/alerts?done=deleted").await;
    assert!(browser.page("/alerts").await.contains("No one is notified of kills."));
}

#[tokio::test]
async fn rule_shows_its_repeat_and_recovery() {
    let server = Server::start().await;
    let browser = Browser::new(&server).await;
    let fields = "rule_type=agent_down&agent_id=&minutes=5&cooldown_minutes=30&repeat_minutes=60&notify_recovery=on";
    browser.submit("/alerts/rules", fields, "/alerts?done=alerts").await;
    let rule = async || server.json("/api/alerts").await["items"][0].clone();
    let told = |rule: &serde_json::Value| {
        ["cooldown_minutes", "repeat_minutes", "notify_recovery"].map(|field| rule[field].clone())
    };
    assert_eq!(told(&rule().await), [json!(30), json!(60), json!(true)]);
    let text = browser.page("/alerts").await;
    assert!(text.contains("again every 60 min") && text.contains(", and when it is over"), "{text}");

    let path = format!("/alerts/rules/{}", rule().await["id"].as_str().unwrap());
    let wrong = browser.post(&path, "rule_type=agent_down&agent_id=&cooldown_minutes=15&repeat_minutes=often").await;
    assert_eq!(wrong.status, StatusCode::BAD_REQUEST);
    assert!(wrong.text.contains("Again every must be a whole number"), "{}", wrong.text);
    browser
        .submit(&path, "rule_type=agent_down&agent_id=&cooldown_minutes=15&repeat_minutes=", "/alerts?done=alerts")
        .await;
    assert_eq!(told(&rule().await), [json!(15), json!(null), json!(false)]);
}

#[tokio::test]
async fn switched_off_rule_is_switched_on_again_from_the_notice() {
    let server = Server::start().await;
    let browser = Browser::new(&server).await;
    browser.submit("/alerts/rules", "rule_type=kill_switch&agent_id=", "/alerts?done=alerts").await;
    let id = server.json("/api/alerts").await["items"][0]["id"].as_str().unwrap().to_owned();
    let switch = format!("/alerts/rules/{id}/switch");
    let off = format!("/alerts?done=rule-off&undo={id}");
    browser.submit(&switch, "enabled=false", &off).await;
    let notice =
        browser.page(&off).await.split("id=\"notice\"").nth(1).unwrap().split("<h1").next().unwrap().to_owned();
    assert!(notice.contains("The rule is off") && notice.contains(&format!("action=\"{switch}\"")), "{notice}");
    assert!(notice.contains("name=\"enabled\" value=\"true\"") && notice.contains("Undo"), "{notice}");
    browser.submit(&switch, "enabled=true", &format!("/alerts?done=rule-on&undo={id}")).await;
    assert_eq!(server.json("/api/alerts").await["items"][0]["enabled"], true);
}

/// Who is notified of a kill, as the page says it, with these rules about kills and a channel that
/// is on and one that is off.
#[tokio::test]
async fn page_says_who_is_notified_of_a_kill() {
    const NOBODY: &str = "No one is notified of kills: the rules are off, or their channels are off or fail.";
    let server = Server::start().await;
    let browser = Browser::new(&server).await;
    let post = async |path: &str, body| server.ask(Method::POST, path, Some(body)).await.json();
    let channel = |name: &str, on: bool| json!({"kind": "webhook", "name": name, "url": "https://hooks.example.com", "enabled": on});
    let on = post("/api/channels", channel("on", true)).await["id"].clone();
    let off = post("/api/channels", channel("off", false)).await["id"].clone();
    let rule = |agent: &str, enabled: bool, channels: &[&Value]| json!({"rule_type": "kill_switch", "agent_id": agent, "enabled": enabled, "channels": channels});
    for (rules, said) in [
        (vec![], "1 channel is notified of every kill."),
        (vec![rule("*", false, &[])], NOBODY),
        (vec![rule("*", false, &[&on])], NOBODY),
        (vec![rule("*", true, &[&off])], NOBODY),
        (vec![rule("*", false, &[]), rule("quiet", false, &[])], NOBODY),
        (vec![rule("*", true, &[&off, &on])], "Rules say who is notified of kills."),
        (vec![rule("*", false, &[]), rule("loud", true, &[])], "Rules say who is notified of kills."),
        (vec![rule("quiet", false, &[])], "Rules say who is notified of kills."),
    ] {
        let mut made = Vec::new();
        for rule in &rules {
            made.push(post("/api/alerts", rule.clone()).await["id"].as_str().unwrap().to_owned());
        }
        let page = browser.page("/alerts").await;
        assert!(page.contains(&format!(">{said}</h1>")), "{rules:?}: {said}");
        let again = "every channel is told of them again";
        assert_eq!(page.matches(again).count(), rules.len(), "what deleting a rule means");
        for id in made {
            server.ask(Method::DELETE, &format!("/api/alerts/{id}"), None).await;
        }
    }
}

#[tokio::test]
async fn failed_alert_can_be_retried_only_while_its_channel_is_on() {
    let server = Server::start().await;
    let browser = Browser::new(&server).await;
    browser.post("/alerts/channels", WEBHOOK).await;
    let channel = server.json("/api/channels").await["items"][0]["id"].as_str().unwrap().to_owned();
    server.kill("looper").await;
    let delivery = server.json("/api/alert-history").await["items"][0]["id"].as_str().unwrap().to_owned();
    let offered = async || browser.page("/alerts").await.contains(&format!("/alerts/history/{delivery}/retry"));
    assert!(!offered().await, "it has not failed");

    let (delivery, at) = (model::DeliveryId::parse(&delivery).unwrap(), server.web.clock.now());
    let (status, answer) = (Some(500), "ok".to_owned());
    let attempt = store::Attempt { at, took_ms: 1, status, answer, outcome: store::Outcome::GivenUp };
    let failed = store::AlertChange::Attempted { delivery, attempt };
    server.web.recorder.change(store::Change::Alerts(failed)).await.unwrap();
    assert!(offered().await);
    assert!(browser.page("/alerts").await.contains("status 500: ok"));
    let path = format!("/api/channels/{channel}");
    server.patch(&path, json!({"enabled": false})).await;
    assert!(!offered().await, "its channel is off");
    server.patch(&path, json!({"enabled": true})).await;
    assert!(offered().await);
    server.ask(Method::DELETE, &path, None).await;
    assert!(!offered().await, "its channel is gone");
}

#[tokio::test]
async fn form_of_a_channel_has_the_fields_of_its_kind_only() {
    let server = Server::start().await;
    let browser = Browser::new(&server).await;
    for (kind, fields) in [
        ("webhook", vec!["url"]),
        ("slack", vec!["url"]),
        ("telegram", vec!["bot_token", "chat_id"]),
        ("email", vec!["to"]),
    ] {
        let page = browser.page(&format!("/alerts?add={kind}")).await;
        let form = page.split("id=\"add-channel\"").nth(1).unwrap().split("</form>").next().unwrap();
        assert!(form.contains(&format!("name=\"kind\" value=\"{kind}\"")), "{form}");
        for field in ["url", "to", "bot_token", "chat_id"] {
            let has_field = form.contains(&format!("name=\"{field}\""));
            assert_eq!(has_field, fields.contains(&field), "{kind} {field}");
        }
    }
    for (rule, fields) in [
        ("kill_switch", vec![]),
        ("agent_down", vec!["minutes"]),
        ("error_rate", vec!["percent", "minutes"]),
        ("budget", vec!["percent", "amount_usd", "period"]),
    ] {
        let page = browser.page(&format!("/alerts?rule={rule}")).await;
        let form = page.split("id=\"add-rule\"").nth(1).unwrap().split("</form>").next().unwrap();
        for field in ["minutes", "percent", "amount_usd", "period"] {
            let has_field = form.contains(&format!("name=\"{field}\""));
            assert_eq!(has_field, fields.contains(&field), "{rule} {field}");
        }
    }
}

#[tokio::test]
async fn channels_and_rules_are_changed_on_the_page() {
    let server = Server::start().await;
    let browser = Browser::new(&server).await;
    browser.post("/alerts/channels", WEBHOOK).await;
    let channel = async || server.json("/api/channels").await["items"][0].clone();
    let path = format!("/alerts/channels/{}", channel().await["id"].as_str().unwrap());
    // The address comes back as it is shown, and stays.
    let shown = "kind=webhook&name=night+shift&url=https%3A%2F%2Fhooks.example.com%2F%E2%80%A6";
    browser.submit(&path, shown, "/alerts?done=alerts").await;
    assert_eq!(channel().await["name"], "night shift");
    browser.submit(&path, "kind=webhook&name=day&url=https%3A%2F%2Fother.example.com%2F", "/alerts?done=alerts").await;
    assert_eq!(channel().await["url"].as_str().unwrap().trim_end_matches('/'), "https://other.example.com");
    let wrong = browser.post(&path, "kind=webhook&name=day&url=nonsense").await;
    assert_eq!(wrong.status, StatusCode::BAD_REQUEST);
    assert!(wrong.text.contains("Nothing was changed"), "{}", wrong.text);
    assert!(wrong.text.contains("value=\"nonsense\""), "what was typed stays: {}", wrong.text);
    assert!(wrong.text.contains("<details class=\"confirm\" open>"), "its form is open: {}", wrong.text);
    let gone = browser.post("/alerts/channels/0190b6a4-0000-7000-8000-000000000000", shown).await;
    assert_eq!(gone.status, StatusCode::NOT_FOUND);

    browser
        .submit("/alerts/rules", "rule_type=error_rate&agent_id=&percent=20&minutes=10", "/alerts?done=alerts")
        .await;
    let rule = async || server.json("/api/alerts").await["items"][0].clone();
    let path = format!("/alerts/rules/{}", rule().await["id"].as_str().unwrap());
    let changed = "rule_type=error_rate&agent_id=crawler&percent=35.5&minutes=30&cooldown_minutes=5&channel=";
    browser.submit(&path, changed, "/alerts?done=alerts").await;
    let (rule, expected) = (rule().await, json!(["crawler", 35.5, 30, 5]));
    let fields = ["agent_id", "percent", "minutes", "cooldown_minutes"].map(|field| rule[field].clone());
    assert_eq!(json!(fields), expected);
}

#[tokio::test]
async fn page_says_if_links_in_alerts_lead_to_this_machine_only() {
    let server = Server::start().await;
    let browser = Browser::new(&server).await;
    let page = browser.page("/alerts").await;
    assert!(
        page.contains("Links in alerts lead to <code>http://127.0.0.1:18880</code>") && page.contains("public_url")
    );
    assert_eq!(server.json("/api/status").await["links_are_local"], true);
}
