//! The target of a change as it stands in the database: fields that people set, never a secret or a
//! prompt.

use serde_json::{Value, json};

use super::action::Target;
use crate::database::{self, Connection, Row};

/// The fields of `target`; `None` if it does not exist.
pub(super) async fn read(transaction: &mut Connection<'_>, target: &Target<'_>) -> Result<Option<Value>, sqlx::Error> {
    match target {
        Target::Agent(id) => {
            let columns = "active, name, enabled, window_size, threshold, action, counting, labels from agents";
            one(transaction, columns, id.as_str(), agent).await
        }
        Target::Policy(id) => {
            one(transaction, "policy from policies", id.as_str(), |row| json_column(row, "policy")).await
        }
        Target::DefaultPolicy => {
            one(transaction, "policy from policies", model::ANY, |row| json_column(row, "policy")).await
        }
        Target::Provider(name) => {
            let columns = "base_url, format, key_id from providers";
            one(transaction, columns, name, provider).await
        }
        Target::Incident(id) => {
            let id = id.to_string();
            one(transaction, "agent_id, state, feedback from incidents", &id, incident).await
        }
        Target::Exemption(id) => {
            one(transaction, "agent_id, kind, until from exemptions", &id.to_string(), exemption).await
        }
        Target::Settings => settings(transaction, &["kill_switch", "retention"]).await,
        Target::Mail => settings(transaction, &["smtp"]).await,
        Target::Recording(id) => settings(transaction, &[&format!("recording:{id}")]).await,
        Target::Channel(id) => one(transaction, "kind, name, enabled from channels", &id.to_string(), channel).await,
        Target::Rule(id) => {
            let columns = "agent_id, rule_type, condition, channels, cooldown_minutes, repeat_minutes, notify_recovery,
                enabled from alert_rules";
            one(transaction, columns, &id.to_string(), rule).await
        }
        Target::AgentKey(id) => {
            one(transaction, "name, agents, expires_at from agent_keys", &id.to_string(), agent_key).await
        }
        Target::Group(name) => {
            one(transaction, "agents, labels, policy, kill_switch, stopped_at from agent_groups", name, group).await
        }
        Target::User(id) => one(transaction, "name, role, agent_groups from users", id, user).await,
        Target::Token(id) => one(transaction, "name, role, expires_at, agent_groups from api_tokens", id, token).await,
        Target::Delivery(_) | Target::Other(_) => Ok(None),
    }
}

/// One row of the table that `columns` end with, by its key.
async fn one(
    transaction: &mut Connection<'_>,
    columns: &'static str,
    id: &str,
    read: fn(&Row) -> Result<Value, sqlx::Error>,
) -> Result<Option<Value>, sqlx::Error> {
    let key = match columns.rsplit(' ').next() {
        Some("policies") => "agent_id",
        Some("providers" | "agent_groups") => "name",
        _ => "id",
    };
    let mut query = crate::database::QueryBuilder::new("select ");
    query.push(columns).push(" where ").push(key).push(" = ").push_bind(id.to_owned());
    let row = query.build().fetch_optional(transaction).await?;
    row.map(|row| read(&row)).transpose()
}

fn agent(row: &Row) -> Result<Value, sqlx::Error> {
    Ok(json!({
        "active": row.try_get::<bool, _>("active")?,
        "name": row.try_get::<Option<String>, _>("name")?,
        "enabled": row.try_get::<bool, _>("enabled")?,
        "window_size": row.try_get::<i64, _>("window_size")?,
        "threshold": row.try_get::<f64, _>("threshold")?,
        "action": row.try_get::<String, _>("action")?,
        "counting": row.try_get::<String, _>("counting")?,
        "labels": crate::read::groups::labels(row)?,
    }))
}

fn provider(row: &Row) -> Result<Value, sqlx::Error> {
    Ok(json!({
        "base_url": row.try_get::<String, _>("base_url")?,
        "format": row.try_get::<String, _>("format")?,
        "has_key": row.try_get::<Option<String>, _>("key_id")?.is_some(),
    }))
}

fn incident(row: &Row) -> Result<Value, sqlx::Error> {
    Ok(json!({
        "agent_id": row.try_get::<String, _>("agent_id")?,
        "state": row.try_get::<String, _>("state")?,
        "feedback": row.try_get::<Option<String>, _>("feedback")?,
    }))
}

/// Omits the text: it is the beginning of a prompt.
fn exemption(row: &Row) -> Result<Value, sqlx::Error> {
    Ok(json!({
        "agent_id": row.try_get::<String, _>("agent_id")?,
        "kind": row.try_get::<String, _>("kind")?,
        "until": row.try_get("until").map(model::Timestamp::from_millis)?,
    }))
}

/// Omits the target: anyone who knows the address of a chat can post there.
fn channel(row: &Row) -> Result<Value, sqlx::Error> {
    Ok(json!({
        "kind": row.try_get::<String, _>("kind")?,
        "name": row.try_get::<String, _>("name")?,
        "enabled": row.try_get::<bool, _>("enabled")?,
    }))
}

fn rule(row: &Row) -> Result<Value, sqlx::Error> {
    Ok(json!({
        "agent_id": row.try_get::<String, _>("agent_id")?,
        "rule_type": row.try_get::<String, _>("rule_type")?,
        "condition": json_column(row, "condition")?,
        "channels": json_column(row, "channels")?,
        "cooldown_minutes": row.try_get::<i64, _>("cooldown_minutes")?,
        "repeat_minutes": row.try_get::<Option<i64>, _>("repeat_minutes")?,
        "notify_recovery": row.try_get::<bool, _>("notify_recovery")?,
        "enabled": row.try_get::<bool, _>("enabled")?,
    }))
}

fn user(row: &Row) -> Result<Value, sqlx::Error> {
    let (name, role): (String, String) = (row.try_get("name")?, row.try_get("role")?);
    Ok(with_groups(json!({"name": name, "role": role}), row.try_get("agent_groups")?))
}

fn group(row: &Row) -> Result<Value, sqlx::Error> {
    Ok(json!({
        "agents": json_column(row, "agents")?,
        "labels": crate::read::groups::labels(row)?,
        "stopped_at": row.try_get::<Option<i64>, _>("stopped_at")?.map(model::Timestamp::from_millis),
        "policy": json_column(row, "policy")?,
        "kill_switch": json_column(row, "kill_switch")?,
    }))
}

/// Omits the hash.
fn agent_key(row: &Row) -> Result<Value, sqlx::Error> {
    let expires_at: Option<i64> = row.try_get("expires_at")?;
    Ok(json!({
        "name": row.try_get::<Option<String>, _>("name")?,
        "agents": row.try_get::<String, _>("agents")?,
        "expires_at": expires_at.map(model::Timestamp::from_millis),
    }))
}

fn token(row: &Row) -> Result<Value, sqlx::Error> {
    let expires_at: Option<i64> = row.try_get("expires_at")?;
    let token = json!({
        "name": row.try_get::<String, _>("name")?,
        "role": row.try_get::<String, _>("role")?,
        "expires_at": expires_at.map(model::Timestamp::from_millis),
    });
    Ok(with_groups(token, row.try_get("agent_groups")?))
}

/// `value` with the groups that its role is limited to.
fn with_groups(mut value: Value, groups: Option<String>) -> Value {
    if let Some(groups) = groups {
        value["groups"] = serde_json::from_str(&groups).unwrap_or(Value::Null);
    }
    value
}

/// The settings with these names. The password of the mail server is left out, also encrypted.
async fn settings(transaction: &mut Connection<'_>, names: &[&str]) -> Result<Option<Value>, sqlx::Error> {
    let query = database::query_as("select name, value from settings order by name");
    let rows: Vec<(String, String)> = query.fetch_all(transaction).await?;
    let fields = rows.into_iter().filter(|(name, _)| names.contains(&name.as_str())).map(|(name, value)| {
        let mut value = serde_json::from_str(&value).unwrap_or(Value::Null);
        if let Value::Object(fields) = &mut value {
            fields.remove("password");
        }
        (name, value)
    });
    Ok(Some(Value::Object(fields.collect())))
}

fn json_column(row: &Row, column: &'static str) -> Result<Value, sqlx::Error> {
    let text: String = row.try_get(column)?;
    Ok(serde_json::from_str(&text).unwrap_or(Value::Null))
}
