//! Invalid input is named and changes nothing.

use axum::body::Body;
use axum::http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::server::{Server, TOKEN, request};

#[tokio::test]
async fn a_wrong_body_names_its_field_and_changes_nothing() {
    let server = Server::start().await;
    let incident = server.kill("killed").await;
    let feedback = format!("/api/incidents/{incident}/feedback");
    let watched = [
        "/api/agents/killed",
        "/api/agents/killed/kill-switch",
        "/api/agents/killed/policy",
        "/api/providers",
        "/api/incidents",
        "/api/settings",
    ];
    let mut before = Vec::new();
    for path in watched {
        before.push(server.json(path).await);
    }

    let policy = "/api/agents/killed/policy";
    let (agent, switch, provider) = ("/api/agents/killed", "/api/agents/killed/kill-switch", "/api/providers/openai");
    for (method, path, body, field) in [
        (Method::PUT, switch, json!({"enabled": "yes"}), "enabled"),
        (Method::PUT, switch, json!({"enabled": false, "window_size": "20"}), "window_size"),
        (Method::PUT, switch, json!({"enabled": false, "window_size": 1}), "window_size"),
        (Method::PUT, switch, json!({"enabled": false, "window_size": 501}), "window_size"),
        (Method::PUT, switch, json!({"enabled": false, "window_size": 2.5}), "window_size"),
        (Method::PUT, switch, json!({"window_size": -3}), "window_size"),
        (Method::PUT, switch, json!({"enabled": false, "threshold": 0}), "threshold"),
        (Method::PUT, switch, json!({"threshold": 10001}), "threshold"),
        (Method::PUT, switch, json!({"threshold": null}), "threshold"),
        (Method::PUT, switch, json!({"threshold": true}), "threshold"),
        (Method::PUT, switch, json!({"action": "explode"}), "action"),
        (Method::PUT, switch, json!({"counting": 3}), "counting"),
        (Method::PUT, switch, json!({"enabled": false, "window": 5}), "window"),
        (Method::PUT, policy, json!({"budget_daily_usd": -1}), "budget_daily_usd"),
        (Method::PUT, policy, json!({"budget_daily_usd": 1, "budget_weekly_usd": "5"}), "budget_weekly_usd"),
        (Method::PUT, policy, json!({"budget_daily_usd": 1, "time_zone": "Mars/Olympus"}), "time_zone"),
        (Method::PUT, policy, json!({"time_zone": null}), "time_zone"),
        (Method::PUT, policy, json!({"allowed_hours": "always"}), "allowed_hours"),
        (Method::PUT, policy, json!({"allowed_hours": []}), "allowed_hours"),
        (
            Method::PUT,
            policy,
            json!({"allowed_hours": [{"days": ["someday"], "from": "09:00", "to": "18:00"}]}),
            "allowed_hours[0].days[0]",
        ),
        (
            Method::PUT,
            policy,
            json!({"allowed_hours": [{"days": ["mon"], "from": "9", "to": "18:00"}]}),
            "allowed_hours[0].from",
        ),
        (Method::PUT, policy, json!({"rate_limits": null}), "rate_limits"),
        (Method::PUT, policy, json!({"rate_limits": [{"provider": "*", "requests_per_minute": 0}]}), "rate_limits"),
        (
            Method::PUT,
            policy,
            json!({"rate_limits": [{"provider": "*", "requests_per_minute": 1.5}]}),
            "rate_limits[0].requests_per_minute",
        ),
        (
            Method::PUT,
            policy,
            json!({"model_overrides": [{"provider": "openai", "model": "*", "use": "a b"}]}),
            "model_overrides",
        ),
        (
            Method::PUT,
            policy,
            json!({"rate_limits": [{"provider": "*", "requests_per_minute": 5}, {"provider": "opnai", "requests_per_minute": 5}]}),
            "rate_limits",
        ),
        (
            Method::PUT,
            policy,
            json!({"model_overrides": [{"provider": "opnai", "model": "*", "use": "gpt-5-mini"}]}),
            "model_overrides",
        ),
        (Method::PUT, policy, json!({"rate_limits": [["openai", 5]]}), "rate_limits[0]"),
        (Method::PUT, policy, json!({"budget": 5}), "budget"),
        (Method::PUT, "/api/agents/-bad/policy", json!({}), "agent_id"),
        (Method::PATCH, agent, json!({"active": "true"}), "active"),
        (Method::PATCH, agent, json!({"active": 1}), "active"),
        (Method::PATCH, agent, json!({"active": null}), "active"),
        (Method::PATCH, agent, json!({"active": true, "name": ""}), "name"),
        (Method::PATCH, agent, json!({"active": true, "name": "a\nb"}), "name"),
        (Method::PATCH, agent, json!({"active": true, "epoch": 7}), "epoch"),
        (Method::PUT, provider, json!({"base_url": "ftp://x"}), "base_url"),
        (Method::PUT, provider, json!({"base_url": "https://user:password@x"}), "base_url"),
        (Method::PUT, provider, json!({"format": "cobol"}), "format"),
        (Method::PUT, provider, json!({"key": ""}), "key"),
        (Method::PUT, provider, json!({"key": "a\r\nb: c"}), "key"),
        (Method::PUT, provider, json!({"key": null}), "key"),
        (Method::PUT, provider, json!({"has_key": true}), "has_key"),
        (Method::PUT, "/api/providers/new", json!({"base_url": "https://x.test"}), "format"),
        (Method::PUT, "/api/providers/new", json!({"format": "openai"}), "base_url"),
        (Method::PUT, "/api/providers/N%20W", json!({"format": "openai", "base_url": "https://x.test"}), "name"),
        (Method::PUT, "/api/agents/-bad/kill-switch", json!({}), "agent_id"),
        (Method::POST, &feedback, json!({"feedback": "maybe"}), "feedback"),
        (Method::POST, &feedback, json!({}), "feedback"),
        (Method::POST, &feedback, json!({"feedback": "loop", "comment": "x"}), "comment"),
    ] {
        let answer = server.ask(method, path, Some(body.clone())).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{path} {body}: {}", answer.text);
        let problem = answer.json();
        assert_eq!(problem["field"], field, "{path} {body}");
        assert_eq!(problem["errors"][0]["field"], field, "{path} {body}");
        assert!(problem["detail"].as_str().unwrap().starts_with(&format!("{field} ")), "{problem}");
    }
    for (method, path, body) in [
        (Method::PUT, switch, json!([true, 3, 5.0, "observe", "literal"])),
        (Method::PUT, policy, json!([1.0])),
        (Method::PATCH, agent, json!([true, "nm"])),
        (Method::PUT, "/api/settings", json!([])),
        (Method::PUT, provider, json!(["https://x.test"])),
        (Method::POST, &feedback, json!(["loop"])),
    ] {
        let answer = server.ask(method, path, Some(body.clone())).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{path} {body}: {}", answer.text);
        assert_eq!(answer.json()["detail"], "The body must be an object.", "{path} {body}");
    }
    for (path, before) in watched.into_iter().zip(before) {
        assert_eq!(server.json(path).await, before, "{path}");
    }
}

#[tokio::test]
async fn a_wrong_parameter_is_named() {
    let server = Server::start().await;
    for (path, field) in [
        ("/api/agents?state=asleep", "state"),
        ("/api/agents?limit=0", "limit"),
        ("/api/agents?limit=501", "limit"),
        ("/api/agents?limit=x", "limit"),
        ("/api/agents?cursor=%21%21", "cursor"),
        ("/api/agents?stat=active", "stat"),
        ("/api/events?type=unknown", "type"),
        ("/api/events?status=abc", "status"),
        ("/api/events?status=99999", "status"),
        ("/api/events?blocked=perhaps", "blocked"),
        ("/api/events?from=yesterday", "from"),
        ("/api/events?agent=-", "agent"),
        ("/api/events?cursor=%21", "cursor"),
        ("/api/incidents?state=half-open", "state"),
        ("/api/incidents?agents=a", "agents"),
        ("/api/incidents?cursor=%21", "cursor"),
    ] {
        let answer = server.get(path).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{path}: {}", answer.text);
        assert_eq!(answer.json()["field"], field, "{path}: {}", answer.text);
    }
}

#[tokio::test]
async fn invalid_json_is_reported_by_position_and_a_large_body_is_refused() {
    let server = Server::start().await;
    let ask = async |body: String| {
        let asked =
            request(Method::PUT, "/api/agents/a/kill-switch").header("authorization", format!("Bearer {TOKEN}"));
        server.send(asked.header("content-type", "application/json").body(Body::from(body)).unwrap()).await
    };
    let broken = ask("{\n  \"enabled\": tru}".to_owned()).await;
    assert_eq!(broken.status, StatusCode::BAD_REQUEST);
    assert_eq!(broken.json()["detail"], "The body is not valid JSON: see line 2, column 17.");

    let large = format!("{{\"enabled\": true{}}}", " ".repeat(64 * 1024));
    assert_eq!(ask(large).await.status, StatusCode::PAYLOAD_TOO_LARGE);
    let deep = "[".repeat(10_000);
    assert_eq!(ask(deep).await.status, StatusCode::BAD_REQUEST);
    let agents: Value = server.json("/api/agents").await;
    assert_eq!(agents["items"], json!([]), "nothing was created");
}
