//! Groups on the real server: settings by API and command, and restarts.

use bytes::Bytes;
use http::{Method, Request};
use http_body_util::Full;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::support::{Server, ServerBuilder, eventually, provider, requests};

const QUESTION: &str = "Why does the import of customer records fail?";

#[tokio::test]
async fn group_limits_stops_and_sets_up_its_agents() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    assert_eq!(server.agent("team-a:old").ask(QUESTION).await.status, 200);
    let body = json!({
        "agents": ["team-a/*", "x"],
        "policy": {"rate_limits": [{"provider": "*", "requests_per_minute": 3}]},
        "kill_switch": {"enabled": true, "threshold": 7.5},
    });
    let made = server.api(Method::PUT, "/api/groups/team-a", Some(body)).await;
    assert_eq!((&made["name"], &made["agents"]), (&json!("team-a"), &json!(["team-a/*", "x"])));
    for (agent, expected) in [("team-a:one", 200), ("x", 200), ("team-a:two", 200), ("team-a:one", 429), ("other", 200)]
    {
        assert_eq!(server.agent(agent).ask(QUESTION).await.status, expected, "{agent}");
    }

    // After a restart the same holds for new agents of the group, earlier ones, and others.
    let (builder, _) = server.terminate();
    let server = builder.start();
    for (agent, enabled) in [("team-a:one", true), ("x", true), ("team-a:old", false), ("other", false)] {
        let kill_switch = server.get(&format!("/api/agents/{agent}/kill-switch")).await;
        assert_eq!(kill_switch["enabled"], json!(enabled), "{agent}");
    }

    let stopped = server.run(&["groups", "stop", "team-a", "--json"]).json();
    assert_eq!(stopped["agents"], json!(["team-a:old", "team-a:one", "team-a:two", "x"]));
    assert!(server.agent("x").ask(QUESTION).await.is_inactive_response());
    assert_eq!(server.agent("other").ask(QUESTION).await.status, 200);
    server.run(&["groups", "activate", "team-a"]).said();
    server.run(&["groups", "set", "team-a", "--requests-per-minute", "1000", "--budget-daily", "0"]).said();
    let refused = server.agent("x").ask(QUESTION).await.json();
    assert_eq!((&refused["block_reason"], &refused["group"]), (&json!("budget_exceeded"), &json!("team-a")));
    server.run(&["groups", "delete", "team-a"]).said();
    assert_eq!(server.agent("x").ask(QUESTION).await.status, 200);
    assert_eq!(server.get("/api/groups").await, json!({"items": [], "next_cursor": null}));
}

#[tokio::test]
async fn stopped_group_refuses_agents_that_first_call_later() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    for name in ["team-a", "everybody"] {
        let body = json!({"agents": [if name == "team-a" { "team-a/*" } else { "*" }]});
        server.api(Method::PUT, &format!("/api/groups/{name}"), Some(body)).await;
    }
    assert_eq!(server.agent("team-a:old").ask(QUESTION).await.status, 200);
    server.run(&["groups", "stop", "team-a", "--reason", "a bill of yesterday"]).said();
    let calls = requests(&provider);
    let refused = server.agent("team-a:new").ask(QUESTION).await;
    assert!(refused.is_inactive_response(), "{refused:?}");
    assert_eq!((&refused.json()["group"], &refused.json()["deactivated_by"]), (&json!("team-a"), &json!("manual")));
    assert_eq!(server.agent("other").ask(QUESTION).await.status, 200);

    // It is listed as inactive, one agent alone cannot be activated, and a restart changes nothing.
    let (builder, _) = server.terminate();
    let server = builder.start();
    for agent in ["team-a:new", "team-a:old", "team-a:newer"] {
        assert!(server.agent(agent).ask(QUESTION).await.is_inactive_response(), "{agent}");
    }
    let inactive = server.get("/api/agents?state=inactive").await;
    let inactive: Vec<_> = inactive["items"].as_array().unwrap().iter().map(|it| it["agent_id"].clone()).collect();
    assert_eq!(inactive, ["team-a:new", "team-a:newer", "team-a:old"]);
    let alone = server.try_api(Method::PATCH, "/api/agents/team-a:new", Some(json!({"active": true}))).await.unwrap();
    assert_eq!(alone.status, 409, "{alone:?}");
    assert_eq!(requests(&provider), calls + 1, "only the other agent's call was sent");

    // Changing the group does not lift the stop; an agent that comes into it is stopped.
    server.api(Method::PUT, "/api/groups/team-a", Some(json!({"agents": ["team-a/*", "other"]}))).await;
    assert!(server.agent("other").ask(QUESTION).await.is_inactive_response());
    assert!(server.get("/api/groups/team-a").await["stopped_at"].is_string());

    let active = server.run(&["groups", "activate", "team-a", "--json"]).json();
    assert_eq!(active["agents"], json!(["other", "team-a:new", "team-a:newer", "team-a:old"]));
    for agent in ["team-a:new", "team-a:old", "team-a:latest", "other"] {
        assert_eq!(server.agent(agent).ask(QUESTION).await.status, 200, "{agent}");
    }
    let audit = server.get("/api/audit?target=group:team-a").await;
    let actions: Vec<_> = audit["items"].as_array().unwrap().iter().map(|row| row["action"].clone()).collect();
    assert_eq!(actions, ["group.activate", "group.change", "group.stop", "group.change"]);
    assert_eq!(audit["items"][2]["reason"], "a bill of yesterday");
}

#[tokio::test]
async fn agents_of_a_deleted_group_stay_stopped_and_one_of_two_stops_is_not_enough() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    for (name, pattern) in [("a", "bot-*"), ("b", "bot-1")] {
        server.api(Method::PUT, &format!("/api/groups/{name}"), Some(json!({"agents": [pattern]}))).await;
        server.run(&["groups", "stop", name]).said();
    }
    for agent in ["bot-1", "bot-2"] {
        assert!(server.agent(agent).ask(QUESTION).await.is_inactive_response());
    }
    let active = server.run(&["groups", "activate", "a", "--json"]).json();
    assert_eq!(active["agents"], json!(["bot-2"]), "bot-1 is in b, too");
    assert!(server.agent("bot-1").ask(QUESTION).await.is_inactive_response());
    assert_eq!(server.agent("bot-2").ask(QUESTION).await.status, 200);
    server.run(&["groups", "delete", "b"]).said();
    assert!(server.agent("bot-1").ask(QUESTION).await.is_inactive_response(), "it stays as it is");
    server.run(&["activate", "bot-1"]).said();
    assert_eq!(server.agent("bot-1").ask(QUESTION).await.status, 200);
}

#[tokio::test]
async fn group_is_activated_as_a_whole_also_if_the_client_leaves() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    server.api(Method::PUT, "/api/groups/team-a", Some(json!({"agents": ["team-a/*"]}))).await;
    let agents: Vec<String> = (0..30).map(|number| format!("team-a:{number}")).collect();
    for agent in &agents {
        assert_eq!(server.agent(agent).ask(QUESTION).await.status, 200);
    }
    server.run(&["groups", "stop", "team-a"]).said();
    let address = server.dashboard.strip_prefix("http://").unwrap();
    let mut client = TcpStream::connect(address).await.unwrap();
    let head = format!("POST /api/groups/team-a/activate HTTP/1.1\r\nhost: {address}\r\ncontent-length: 0\r\n");
    client.write_all(format!("{head}authorization: Bearer {}\r\n\r\n", server.token).as_bytes()).await.unwrap();
    eventually("the first agent is active", async || {
        server.get("/api/agents?state=active").await["items"].as_array().is_some_and(|it| !it.is_empty()).then_some(())
    })
    .await;
    drop(client);
    eventually("all agents are active", async || {
        let active = server.get("/api/agents?state=active").await;
        (active["items"].as_array().unwrap().len() == agents.len()).then_some(())
    })
    .await;
}

#[tokio::test]
async fn labels_put_agents_into_groups() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    for agent in ["one", "two", "three"] {
        assert_eq!(server.agent(agent).ask(QUESTION).await.status, 200);
    }
    assert_eq!(server.run(&["labels", "one", "production", "team=billing"]).said(), "production\nteam=billing\n");
    let labelled = server.api(Method::PUT, "/api/agents/two/labels", Some(json!({"labels": ["production"]}))).await;
    assert_eq!((&labelled["agent_id"], &labelled["labels"]), (&json!("two"), &json!(["production"])));
    server.run(&["groups", "set", "live", "--label", "production", "--budget-daily", "0"]).said();
    for (agent, expected) in [("one", 400), ("two", 400), ("three", 200)] {
        assert_eq!(server.agent(agent).ask(QUESTION).await.status, expected, "{agent}");
    }

    // They survive a restart, and hold for stops and for operators of the group.
    let (builder, _) = server.terminate();
    let server = builder.start();
    assert_eq!(server.agent("two").ask(QUESTION).await.json()["group"], "live");
    let token = json!({"name": "ops", "role": "operator", "groups": ["live"]});
    let token = server.api(Method::POST, "/api/tokens", Some(token)).await["token"].as_str().unwrap().to_owned();
    let deactivate = async |agent: &str| {
        let path = format!("/api/agents/{agent}");
        server.api_as(&token, Method::PATCH, &path, Some(json!({"active": false}))).await.status.as_u16()
    };
    assert_eq!((deactivate("one").await, deactivate("three").await), (200, 403));
    let label = json!({"labels": ["production"]});
    let own = server.api_as(&token, Method::PUT, "/api/agents/one/labels", Some(label.clone())).await;
    let other = server.api_as(&token, Method::PUT, "/api/agents/three/labels", Some(label)).await;
    assert_eq!((own.status.as_u16(), other.status.as_u16()), (403, 403), "nobody widens their own group");
    assert_eq!(server.run(&["labels", "two", "--none"]).said(), "two has no labels.\n");
    assert_eq!(server.agent("two").ask(QUESTION).await.status, 200);
    let stopped = server.run(&["groups", "stop", "live", "--json"]).json();
    assert_eq!(stopped["agents"], json!(["one"]));
    server.api(Method::PUT, "/api/agents/three/labels", Some(json!({"labels": ["production"]}))).await;
    assert!(server.agent("three").ask(QUESTION).await.is_inactive_response(), "it came into a stopped group");
    for bad in [json!({"labels": ["a b"]}), json!({"labels": "a"}), json!({}), json!({"labels": [""]})] {
        let refused = server.try_api(Method::PUT, "/api/agents/one/labels", Some(bad.clone())).await.unwrap();
        assert_eq!(refused.status, 400, "{bad}");
    }
    let unknown = json!({"labels": []});
    assert_eq!(server.try_api(Method::PUT, "/api/agents/nobody/labels", Some(unknown)).await.unwrap().status, 404);
}

#[tokio::test]
async fn group_change_keeps_absent_fields() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    let body = json!({
        "agents": ["a"], "labels": ["x"],
        "policy": {
            "budget_daily_usd": 5, "budget_weekly_usd": 20,
            "rate_limits": [
                {"provider": "*", "requests_per_minute": 10, "tokens_per_minute": 1000},
                {"provider": "openai", "requests_per_minute": 5},
            ],
        },
        "kill_switch": {"enabled": true, "threshold": 7.5},
    });
    let made = server.api(Method::PUT, "/api/groups/g", Some(body)).await;
    let same = server.api(Method::PUT, "/api/groups/g", Some(json!({}))).await;
    assert_eq!(same, made);
    let change = json!({"policy": {"budget_daily_usd": null}, "kill_switch": {"window_size": 9}, "labels": []});
    let changed = server.api(Method::PUT, "/api/groups/g", Some(change)).await;
    assert_eq!((&changed["policy"]["budget_daily_usd"], &changed["labels"]), (&json!(null), &json!([])));
    assert_eq!(changed["policy"]["budget_weekly_usd"], json!(20.0));
    assert_eq!(changed["policy"]["rate_limits"], made["policy"]["rate_limits"]);
    assert_eq!(changed["kill_switch"], json!({"enabled": true, "window_size": 9, "threshold": 7.5}));
    // The command changes one rate, though a list in the API is replaced as a whole.
    server.run(&["groups", "set", "g", "--requests-per-minute", "20"]).said();
    let rates = &server.get("/api/groups/g").await["policy"]["rate_limits"];
    assert_eq!((&rates[0]["requests_per_minute"], &rates[0]["tokens_per_minute"]), (&json!(20), &json!(1000)));
    assert_eq!(rates[1], made["policy"]["rate_limits"][1]);
    let reset = server.api(Method::PUT, "/api/groups/g", Some(json!({"kill_switch": {}}))).await;
    assert_eq!(reset["kill_switch"], json!({}));
}

#[tokio::test]
async fn group_spending_survives_a_restart() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    let body = json!({"agents": ["team-a/*"], "policy": {"budget_daily_usd": 100}});
    server.api(Method::PUT, "/api/groups/team-a", Some(body)).await;
    for agent in ["team-a:one", "team-a:two"] {
        assert_eq!(server.agent(agent).ask(QUESTION).await.status, 200);
    }
    let spent = server.get("/api/groups/team-a").await["spent_daily_usd"].as_f64().unwrap();
    assert!(spent > 0.0);
    let (builder, _) = server.terminate();
    let server = builder.start();
    let again = server.get("/api/groups/team-a").await["spent_daily_usd"].as_f64().unwrap();
    assert!((again - spent).abs() < 1e-9, "{again} {spent}");
}

#[tokio::test]
async fn spending_of_a_deleted_agent_still_counts_for_its_group() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    let body = json!({"agents": ["team-a/*"], "policy": {"budget_monthly_usd": 100}});
    server.api(Method::PUT, "/api/groups/team-a", Some(body)).await;
    for agent in ["team-a:one", "team-a:two", "other"] {
        assert_eq!(server.agent(agent).ask(QUESTION).await.status, 200);
    }
    let spent = async |server: &Server| {
        let group = server.get("/api/groups/team-a").await;
        ["spent_daily_usd", "spent_monthly_usd"].map(|period| group[period].as_f64().unwrap())
    };
    let before = spent(&server).await;
    assert!(before[1] > 0.0);
    server.api(Method::DELETE, "/api/agents/team-a:one", None).await;
    server.api(Method::DELETE, "/api/agents/other", None).await;
    let server = server.terminate().0.start();
    let after = spent(&server).await;
    assert!(before.iter().zip(after).all(|(before, after)| (before - after).abs() < 1e-9), "{before:?} {after:?}");
}

#[tokio::test]
async fn invalid_group_names_its_field_and_rules_may_name_a_group() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    for (name, body, field) in [
        ("g", json!({}), "agents"),
        ("g", json!({"agents": []}), "agents"),
        ("g", json!({"labels": ["a b"]}), "labels[0]"),
        ("g", json!({"agents": ["a b"]}), "agents[0]"),
        ("g", json!({"agents": ["a"], "members": []}), "members"),
        ("g", json!({"agents": ["a"], "policy": {"budget_daily_usd": -1}}), "policy.budget_daily_usd"),
        ("g", json!({"agents": ["a"], "policy": {"budget_conversation_usd": 1}}), "budget_conversation_usd"),
        ("g", json!({"agents": ["a"], "kill_switch": {"window_size": 1}}), "window_size"),
        ("g%20h", json!({"agents": ["a"]}), "name"),
    ] {
        let refused = server.try_api(Method::PUT, &format!("/api/groups/{name}"), Some(body.clone())).await.unwrap();
        assert_eq!((refused.status.as_u16(), &refused.json()["field"]), (400, &json!(field)), "{body}: {refused:?}");
    }
    assert_eq!(server.try_api(Method::GET, "/api/groups/g", None).await.unwrap().status, 404);
    assert_eq!(server.try_api(Method::POST, "/api/groups/g/stop", None).await.unwrap().status, 404);
    server.api(Method::PUT, "/api/groups/g", Some(json!({"agents": ["a"]}))).await;
    let rule = json!({"rule_type": "kill_switch", "agent_id": "@g"});
    let rule = server.api(Method::POST, "/api/alerts", Some(rule)).await;
    assert_eq!(rule["agent_id"], "@g");
    let unknown = json!({"rule_type": "kill_switch", "agent_id": "@nobody"});
    let unknown = server.try_api(Method::POST, "/api/alerts", Some(unknown)).await.unwrap();
    assert_eq!((unknown.status.as_u16(), &unknown.json()["field"]), (400, &json!("agent_id")));
    assert_eq!(server.try_api(Method::DELETE, "/api/groups/g", None).await.unwrap().status, 409);
    server.api(Method::DELETE, &format!("/api/alerts/{}", rule["id"].as_str().unwrap()), None).await;
    assert_eq!(server.try_api(Method::DELETE, "/api/groups/g", None).await.unwrap().status, 204);
}

/// Budgets, rates, settings of new agents, alert rules and roles.
#[tokio::test]
async fn all_that_names_a_group_is_set_by_api_by_command_and_on_pages() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    let body = json!({
        "agents": ["by-api/*"],
        "policy": {
            "budget_daily_usd": 5, "budget_weekly_usd": 20, "budget_monthly_usd": 60,
            "rate_limits": [{"provider": "*", "requests_per_minute": 600}],
        },
        "kill_switch": {"enabled": true},
    });
    server.api(Method::PUT, "/api/groups/by-api", Some(body)).await;
    let rule = json!({"rule_type": "error_rate", "agent_id": "@by-api", "percent": 50, "minutes": 5});
    server.api(Method::POST, "/api/alerts", Some(rule)).await;
    let token = json!({"name": "by-api", "role": "operator", "groups": ["by-api"]});
    server.api(Method::POST, "/api/tokens", Some(token)).await;

    let limits = ["--budget-daily", "5", "--budget-weekly", "20", "--budget-monthly", "60"];
    let rest = ["--requests-per-minute", "600", "--kill-switch", "on"];
    server.run(&[&["groups", "set", "by-command", "--agent", "by-command/*"], &limits[..], &rest[..]].concat()).said();
    let rule = ["--agent", "@by-command", "--percent", "50", "--minutes", "5"];
    let added = server.run(&[&["alerts", "add-rule", "error_rate"], &rule[..]].concat());
    assert!(added.said().contains("@by-command"), "{added:?}");
    server.run(&["tokens", "create", "by-command", "--role", "operator", "--group", "by-command"]).said();

    let limits = "daily=5&weekly=20&monthly=60&requests=600&kill_switch=on";
    send_form(&server, "/groups", &format!("name=by-page&agents=by-page/*&{limits}")).await;
    let rule = "rule_type=error_rate&agent_id=%40by-page&channel=&percent=50&minutes=5";
    send_form(&server, "/alerts/rules", rule).await;
    send_form(&server, "/settings/people/tokens", "name=by-page&role=operator&groups=by-page&until=").await;

    let (rules, tokens) = (server.get("/api/alerts").await, server.get("/api/tokens").await);
    let limits = server.get("/api/groups/by-api").await;
    for name in ["by-api", "by-command", "by-page"] {
        let group = server.get(&format!("/api/groups/{name}")).await;
        assert_eq!((&group["policy"], &group["kill_switch"]), (&limits["policy"], &limits["kill_switch"]), "{name}");
        assert_eq!(group["policy"]["budget_weekly_usd"], 20.0, "{name}");
        let has = |items: &Value, field: &str, value: Value| {
            items["items"].as_array().unwrap().iter().any(|item| item[field] == value)
        };
        assert!(has(&rules, "agent_id", json!(format!("@{name}"))), "{name}: {rules}");
        assert!(has(&tokens, "groups", json!([name])), "{name}: {tokens}");
    }
    let listed = server.run(&["alerts", "--json"]).json();
    let rule = listed["rules"].as_array().unwrap().iter().find(|rule| rule["agent_id"] == "@by-command").unwrap();
    server.run(&["alerts", "delete-rule", rule["id"].as_str().unwrap()]).said();
    assert_eq!(server.get("/api/alerts").await["items"].as_array().unwrap().len(), 2);
    assert_eq!(server.run(&["alerts", "add-rule", "budget", "--agent", "@nobody", "--percent", "80"]).code, Some(2));
}

async fn send_form(server: &Server, path: &str, form: &str) {
    let request = Request::post(format!("{}{path}", server.dashboard))
        .header("authorization", format!("Bearer {}", server.token))
        .header("content-type", "application/x-www-form-urlencoded")
        .body(Full::new(Bytes::from(form.to_owned())));
    let answer = server.http.send(request.unwrap()).await.unwrap();
    assert!(answer.status.is_redirection() || answer.status.is_success(), "{path}: {answer:?}");
}
