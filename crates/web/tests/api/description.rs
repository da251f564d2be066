//! The description of the API says what the router does.

use axum::body::Body;
use axum::http::{Method, StatusCode};
use serde_json::Value;

use crate::server::{Server, TOKEN, request};

/// Every operation of the description, with something in place of the path's variables.
pub(crate) fn operations() -> Vec<(Method, String)> {
    let description: Value = serde_json::from_str(&web::openapi_json()).unwrap();
    let mut operations = Vec::new();
    for (path, methods) in description["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys() {
            let method = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
            operations.push((method, path.replace("{id}", "none").replace("{name}", "openai")));
        }
    }
    operations
}

#[test]
fn the_operations_are_these() {
    let mut lines: Vec<String> = operations().into_iter().map(|(method, path)| format!("{path} {method}")).collect();
    lines.sort();
    insta::assert_snapshot!(lines.join("\n"));
}

#[tokio::test]
async fn every_operation_is_routed_and_no_other_method_is() {
    // One of the operations replaces the token, if it can.
    let server = Server::with_token(control::Token::configured(TOKEN)).await;
    let operations = operations();
    for (_, path) in &operations {
        for method in [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
            let described = operations.contains(&(method.clone(), path.clone()));
            let asked = request(method.clone(), path).header("authorization", format!("Bearer {TOKEN}"));
            let response = server.open(asked.body(Body::empty()).unwrap()).await;
            let routed = response.status() != StatusCode::METHOD_NOT_ALLOWED;
            assert_eq!(routed, described, "{method} {path}: {}", response.status());
        }
    }
}

#[test]
fn every_operation_says_how_it_is_refused() {
    let description: Value = serde_json::from_str(&web::openapi_json()).unwrap();
    for (path, methods) in description["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let open = path == "/healthz" || path == "/readyz";
            let refusal = &operation["responses"]["401"]["content"]["application/problem+json"];
            assert_eq!(refusal.is_object(), !open, "{method} {path}");
            assert!(operation["operationId"].is_string(), "{method} {path}");
            let takes_body = operation["requestBody"].is_object();
            assert_eq!(operation["responses"]["415"].is_object(), takes_body, "{method} {path}");
        }
    }
    let schemes = description["components"]["securitySchemes"].as_object().unwrap();
    assert_eq!(schemes.keys().collect::<Vec<_>>(), ["session", "token"]);
}

#[test]
fn every_reference_leads_somewhere() {
    let description: Value = serde_json::from_str(&web::openapi_json()).unwrap();
    let text = description.to_string();
    for reference in text.split("\"$ref\":\"#").skip(1) {
        let pointer = reference.split('"').next().unwrap();
        assert!(description.pointer(pointer).is_some(), "{pointer}");
    }
}

#[test]
fn a_change_takes_null_only_where_null_means_something() {
    let description: Value = serde_json::from_str(&web::openapi_json()).unwrap();
    let mut nullable = Vec::new();
    for change in
        ["AgentChange", "KillSwitchChange", "ProviderChange", "ChannelChange", "AlertRuleChange", "PolicyChange"]
    {
        let fields = description["components"]["schemas"][change]["properties"].as_object().unwrap();
        let takes_null = |field: &Value| field["type"].as_array().is_some_and(|types| types.contains(&"null".into()));
        let names = fields.iter().filter(|(_, field)| takes_null(field)).map(|(name, _)| format!("{change}.{name}"));
        nullable.extend(names);
    }
    let expected = [
        "AgentChange.name",
        "AlertRuleChange.repeat_minutes",
        "PolicyChange.allowed_hours",
        "PolicyChange.budget_conversation_usd",
        "PolicyChange.budget_daily_usd",
        "PolicyChange.budget_monthly_usd",
        "PolicyChange.budget_weekly_usd",
    ];
    assert_eq!(nullable, expected);
}

#[test]
fn description_says_what_is_refused() {
    let description: Value = serde_json::from_str(&web::openapi_json()).unwrap();
    let schemas = &description["components"]["schemas"];
    for (path, methods) in description["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let operation = operation.as_object().unwrap();
            assert!(operation.get("parameters").is_none_or(Value::is_array), "{method} {path}");
            for (status, response) in operation["responses"].as_object().unwrap() {
                assert!(response["description"].is_string(), "{method} {path} {status}");
            }
            let Some(body) = operation.get("requestBody") else { continue };
            let name = body["content"]["application/json"]["schema"]["$ref"].as_str().unwrap();
            let schema = &schemas[name.rsplit('/').next().unwrap()];
            assert_eq!(schema["additionalProperties"], false, "{method} {path}: {name}");
        }
    }
    for part in ["AllowedHours", "RateLimit", "ModelOverride", "RetentionChange"] {
        assert_eq!(schemas[part]["additionalProperties"], false, "{part}");
    }
    let id = &description["paths"]["/api/agents/{id}"]["get"]["parameters"][0];
    assert_eq!(id["schema"]["pattern"], "^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$");
    let scope = schemas["NewAlertRule"]["properties"]["agent_id"]["pattern"].as_str().unwrap();
    assert!(scope.contains("|@[A-Za-z0-9][A-Za-z0-9._-]{0,63}|"), "a rule may be for a group: {scope}");
    assert_eq!(schemas["NewChannel"]["required"], serde_json::json!(["kind", "name"]));
}

#[test]
fn largest_number_fits_its_format() {
    let description: Value = serde_json::from_str(&web::openapi_json()).unwrap();
    let mut rest = vec![&description];
    let mut checked = 0;
    while let Some(value) = rest.pop() {
        if value["format"] == "int32" && value["maximum"].is_number() {
            let maximum = value["maximum"].as_f64().unwrap();
            assert!(maximum <= f64::from(i32::MAX), "{value}");
            checked += 1;
        }
        match value {
            Value::Object(members) => rest.extend(members.values()),
            Value::Array(elements) => rest.extend(elements),
            _ => {}
        }
    }
    assert!(checked > 0);
}
