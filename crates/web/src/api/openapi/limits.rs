//! Limits that the types do not express: patterns and formats of parameters, and required fields of
//! new channels and rules. In one place, because many operations share a parameter.

use serde_json::{Value, json};

/// An agent's id.
const AGENT: &str = "^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$";
/// A session's handle.
const SESSION: &str = "^[0-9a-f]{16}$";
/// A provider's name.
const PROVIDER: &str = "^[a-z0-9][a-z0-9._-]{0,63}$";
/// A group's name.
const GROUP: &str = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$";
/// Hours or days, up to 400 days.
const RANGE: &str = "^(([1-9][0-9]{0,2}|[1-8][0-9]{3}|9[0-5][0-9]{2}|9600)h|([1-9][0-9]?|[1-3][0-9]{2}|400)d)$";

/// Adds the limits to the description.
pub(super) fn describe(api: &mut Value) {
    let Some(paths) = api["paths"].as_object_mut() else { return };
    for (path, operations) in paths {
        for operation in operations.as_object_mut().into_iter().flat_map(serde_json::Map::values_mut) {
            // `get_mut`, because an index would add a missing entry.
            let parameters = operation.get_mut("parameters").and_then(Value::as_array_mut).into_iter().flatten();
            parameters.for_each(|parameter| describe_parameter(path, parameter));
            require_in_new(path, operation);
            describe_responses(operation);
        }
    }
    add_new(api, ("ChannelChange", "NewChannel"), &["kind", "name"]);
    add_new(api, ("AlertRuleChange", "NewAlertRule"), &["rule_type"]);
}

fn describe_parameter(path: &str, parameter: &mut Value) {
    let of_agent = path.starts_with("/api/agents/");
    let (key, value) = match parameter["name"].as_str() {
        Some("id") if of_agent => ("pattern", AGENT),
        Some("id") if path.starts_with("/api/sessions/") => ("pattern", SESSION),
        Some("agent") => ("pattern", AGENT),
        Some("name") if path.starts_with("/api/groups/") => ("pattern", GROUP),
        Some("name") => ("pattern", PROVIDER),
        Some("range") => ("pattern", RANGE),
        Some("id" | "exemption" | "channel" | "incident") => ("format", "uuid"),
        _ => return,
    };
    parameter["schema"][key] = json!(value);
}

/// Adds a description to every response without one: the standard requires it.
fn describe_responses(operation: &mut Value) {
    for (status, response) in operation["responses"].as_object_mut().into_iter().flatten() {
        if response["description"].is_null() {
            response["description"] = json!(if status == "201" { "It is made" } else { "As asked" });
        }
    }
}

/// Makes operations that create something take the schema with required fields, not that of a
/// change.
fn require_in_new(path: &str, operation: &mut Value) {
    let new = match (path, operation["operationId"].as_str()) {
        ("/api/channels", Some("create_channel")) => "NewChannel",
        ("/api/alerts", Some("create_alert_rule")) => "NewAlertRule",
        _ => return,
    };
    operation["requestBody"]["content"]["application/json"]["schema"] =
        json!({"$ref": format!("#/components/schemas/{new}")});
}

/// Adds the schema of a new resource: that of a change, with its required fields.
fn add_new(api: &mut Value, (change, new): (&str, &str), required: &[&str]) {
    let schemas = &mut api["components"]["schemas"];
    let mut schema = schemas[change].clone();
    schema["required"] = json!(required);
    schemas[new] = schema;
}
