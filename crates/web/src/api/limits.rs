//! What the description of the API says about parameters and new things beyond their types: patterns, formats, what a new
//! channel or rule needs. In one place, since the same parameter stands in many operations.

use serde_json::{Value, json};

/// An agent's id.
const AGENT: &str = "^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$";
/// A provider's name.
const PROVIDER: &str = "^[a-z0-9][a-z0-9._-]{0,63}$";
/// Hours or days, up to 400 days.
const RANGE: &str = "^(([1-9][0-9]{0,2}|[1-8][0-9]{3}|9[0-5][0-9]{2}|9600)h|([1-9][0-9]?|[1-3][0-9]{2}|400)d)$";

/// Adds them to the description.
pub(super) fn describe(api: &mut Value) {
    let Some(paths) = api["paths"].as_object_mut() else { return };
    for (path, operations) in paths {
        for operation in operations.as_object_mut().into_iter().flat_map(serde_json::Map::values_mut) {
            // Asked for with `get_mut`: an index would add what is not there.
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
        Some("agent") => ("pattern", AGENT),
        Some("name") => ("pattern", PROVIDER),
        Some("range") => ("pattern", RANGE),
        Some("id" | "exemption" | "channel" | "incident") => ("format", "uuid"),
        _ => return,
    };
    parameter["schema"][key] = json!(value);
}

/// Adds the description that the standard asks of every response, where there is nothing to say but its status.
fn describe_responses(operation: &mut Value) {
    for (status, response) in operation["responses"].as_object_mut().into_iter().flatten() {
        if response["description"].is_null() {
            response["description"] = json!(if status == "201" { "It is made" } else { "As asked" });
        }
    }
}

/// Lets the operations that make something take it whole, where a change may leave fields out.
fn require_in_new(path: &str, operation: &mut Value) {
    let new = match (path, operation["operationId"].as_str()) {
        ("/api/channels", Some("create_channel")) => "NewChannel",
        ("/api/alerts", Some("create_alert_rule")) => "NewAlertRule",
        _ => return,
    };
    operation["requestBody"]["content"]["application/json"]["schema"] =
        json!({"$ref": format!("#/components/schemas/{new}")});
}

/// Adds the schema of a new thing: that of a change, with the fields that it needs.
fn add_new(api: &mut Value, (change, new): (&str, &str), required: &[&str]) {
    let schemas = &mut api["components"]["schemas"];
    let mut schema = schemas[change].clone();
    schema["required"] = json!(required);
    schemas[new] = schema;
}
