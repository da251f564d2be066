//! The audit log, with filters.

use std::collections::HashMap;

use askama::Template;
use axum::extract::State;
use axum::http::Uri;
use serde_json::Value;

use crate::api::people::audit::{self, AuditQuery, AuditView};
use crate::app::App;
use crate::input::Filters;
use crate::pages::frame::Frame;
use crate::pages::number::Moment;
use crate::pages::pager::Pager;
use crate::pages::words::people as words;
use crate::pages::words::problem::field_name;
use crate::pages::{PageResult, assets, draw};
use crate::problem::Problem;

#[derive(Template)]
#[template(path = "audit.html")]
struct AuditPage {
    frame: Frame,
    lines: Vec<AuditLine>,
    actor: String,
    action: String,
    target: String,
    /// The actions to choose from, with their names.
    actions: &'static [(&'static str, &'static str)],
    is_filtered: bool,
    pager: Pager,
}

struct AuditLine {
    number: u64,
    at: Moment,
    who: String,
    role: &'static str,
    address: String,
    what: String,
    target: String,
    /// The page of its target.
    href: Option<String>,
    changes: Vec<String>,
    reason: Option<String>,
}

/// Draws the page.
pub(crate) async fn show(
    State(app): State<App>,
    frame: Frame,
    uri: Uri,
    Filters(query): Filters<AuditQuery>,
) -> PageResult {
    let given = |text: &Option<String>| text.clone().unwrap_or_default();
    let (actor, action, target) = (given(&query.actor), given(&query.action), given(&query.target));
    let is_filtered = query.actor.is_some() || query.action.is_some() || query.target.is_some();
    let page = audit::read(&app, query).await?;
    let now = app.web().clock.now();
    let pager = Pager::new("/settings/audit", uri.query().unwrap_or_default(), page.next_cursor);
    let names = known_names(&app).await?;
    let lines = page.items.into_iter().map(|view| audit_line(view, &names, now)).collect();
    draw(&AuditPage { frame, lines, actor, action, target, actions: words::ACTIONS, is_filtered, pager })
}

/// The names of the users and channels that there are, by the targets of their rows.
async fn known_names(app: &App) -> Result<HashMap<String, String>, Problem> {
    let users = app.control().users().into_iter().map(|user| (format!("user:{}", user.id), user.name));
    let channels = app.web().store.channels().await?.into_iter();
    Ok(channels.map(|channel| (format!("channel:{}", channel.id), channel.name)).chain(users).collect())
}

fn audit_line(view: AuditView, names: &HashMap<String, String>, now: model::Timestamp) -> AuditLine {
    let target = view.target.unwrap_or_default();
    // The row has the name of that time, if it changed or removed the target.
    let named = name_of(&view.before).or_else(|| name_of(&view.after)).or_else(|| names.get(&target).cloned());
    AuditLine {
        number: view.number,
        at: Moment::new(view.timestamp, now),
        who: words::holder(view.actor.kind, &view.actor.name),
        role: view.actor.role.map_or("", model::Role::as_str),
        address: view.actor.address.unwrap_or_default(),
        what: words::action(&view.action),
        href: page_of(&target),
        target: words::target(&target, named.as_deref()),
        changes: changes(view.before, view.after),
        reason: view.reason,
    }
}

/// The page of a row's target.
fn page_of(target: &str) -> Option<String> {
    match target.split_once(':')? {
        ("agent", id) => Some(format!("/agents/{id}")),
        ("incident", id) => Some(format!("/incidents/{id}")),
        _ => None,
    }
}

/// The name of a row's target, if the row has it.
fn name_of(value: &Option<Value>) -> Option<String> {
    value.as_ref()?.get("name")?.as_str().map(str::to_owned)
}

/// Each field that changed, as `name: before → after`.
fn changes(before: Option<Value>, after: Option<Value>) -> Vec<String> {
    let fields = |value: Option<Value>| match value {
        Some(Value::Object(fields)) => fields,
        _ => serde_json::Map::new(),
    };
    let (before, mut after) = (fields(before), fields(after));
    let mut lines = Vec::new();
    for (name, old) in before {
        let new = after.remove(&name).unwrap_or_default();
        if !is_nothing(&old) || !is_nothing(&new) {
            lines.push(format!("{}: {} → {}", field_name(&name), readable(&old), readable(&new)));
        }
    }
    let told = after.iter().filter(|(_, new)| !is_nothing(new));
    lines.extend(told.map(|(name, new)| format!("{}: {}", field_name(name), readable(new))));
    lines
}

/// Whether a value is empty.
fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.iter().all(is_nothing),
        Value::Object(fields) => fields.values().all(is_nothing),
        _ => false,
    }
}

/// A value in the form for people: lists with commas, fields with their names, without empty ones.
fn readable(value: &Value) -> String {
    let joined = |parts: Vec<String>| parts.join(", ");
    match value {
        value if is_nothing(value) => "–".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) => joined(items.iter().map(readable).collect()),
        Value::Object(fields) => {
            let told = fields.iter().filter(|(_, value)| !is_nothing(value));
            joined(told.map(|(name, value)| format!("{} {}", field_name(name), readable(value))).collect())
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn changes_are_listed_field_by_field() {
        let told = changes(Some(json!({"active": false, "name": null})), Some(json!({"active": true, "key": "new"})));
        assert_eq!(told, ["Active: false → true", "Key: new"]);
        let policy =
            json!({"budget_daily_usd": 25, "budget_weekly_usd": null, "rate_limits": [], "hours": [{"from": "08:00"}]});
        let told = changes(None, Some(json!({"agents": ["a-*", "b"], "kill_switch": {}, "policy": policy})));
        assert_eq!(told, ["Agents: a-*, b", "Policy: Budget per day 25, hours From 08:00"]);
        assert_eq!(changes(None, Some(json!({"role": "viewer"}))), ["Role: viewer"]);
        assert!(changes(None, None).is_empty());
    }
}
