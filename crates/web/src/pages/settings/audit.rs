//! The audit log, with filters.

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
use crate::pages::{Drawn, assets, draw};

#[derive(Template)]
#[template(path = "audit.html")]
struct AuditPage {
    frame: Frame,
    lines: Vec<AuditLine>,
    actor: String,
    action: String,
    target: String,
    /// The actions to choose from, with what they are called.
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
    /// The page of what it was done to.
    href: Option<String>,
    changes: Vec<String>,
    reason: Option<String>,
}

/// Draws the page.
pub(crate) async fn show(State(app): State<App>, frame: Frame, uri: Uri, Filters(query): Filters<AuditQuery>) -> Drawn {
    let given = |text: &Option<String>| text.clone().unwrap_or_default();
    let (actor, action, target) = (given(&query.actor), given(&query.action), given(&query.target));
    let is_filtered = query.actor.is_some() || query.action.is_some() || query.target.is_some();
    let page = audit::read(&app, query).await?;
    let now = app.web().clock.now();
    let pager = Pager::new("/settings/audit", uri.query().unwrap_or_default(), page.next_cursor);
    let lines = page.items.into_iter().map(|view| audit_line(view, now)).collect();
    draw(&AuditPage { frame, lines, actor, action, target, actions: words::ACTIONS, is_filtered, pager })
}

fn audit_line(view: AuditView, now: model::Timestamp) -> AuditLine {
    let target = view.target.unwrap_or_default();
    AuditLine {
        number: view.number,
        at: Moment::new(view.timestamp, now),
        who: words::holder(view.actor.kind, &view.actor.name),
        role: view.actor.role.as_str(),
        address: view.actor.address.unwrap_or_default(),
        what: words::action(&view.action),
        href: page_of(&target),
        target,
        changes: changes(view.before, view.after),
        reason: view.reason,
    }
}

/// The page of what a row is about.
fn page_of(target: &str) -> Option<String> {
    match target.split_once(':')? {
        ("agent", id) => Some(format!("/agents/{id}")),
        ("incident", id) => Some(format!("/incidents/{id}")),
        _ => None,
    }
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
        let new = after.remove(&name);
        lines.push(format!("{name}: {} → {}", shown(Some(&old)), shown(new.as_ref())));
    }
    lines.extend(after.iter().map(|(name, new)| format!("{name}: {}", shown(Some(new)))));
    lines
}

fn shown(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => "–".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn changes_are_told_field_by_field() {
        let told = changes(Some(json!({"active": false, "name": null})), Some(json!({"active": true, "key": "new"})));
        assert_eq!(told, ["active: false → true", "name: – → –", "key: new"]);
        assert_eq!(changes(None, Some(json!({"role": "viewer"}))), ["role: viewer"]);
        assert!(changes(None, None).is_empty());
    }
}
