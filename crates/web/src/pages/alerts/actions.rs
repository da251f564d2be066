//! The actions of a person on channels, rules and deliveries: create, change, test, switch, delete,
//! and retry.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::forms::{ChannelForm, RuleForm};
use super::{FormResult, delivery_line, draw_with};
use crate::api::alert_history;
use crate::api::alerts;
use crate::api::channels;
use crate::app::App;
use crate::gate::ByCaller;
use crate::input::{Body, ChannelPath, DeliveryPath, Fields, RulePath};
use crate::pages::frame::Frame;
use crate::pages::words::problem::explanation;
use crate::pages::{PageResult, see_other};
use crate::problem::Problem;

/// Whether a channel or a rule is on.
#[derive(Deserialize)]
pub(crate) struct SwitchForm {
    enabled: bool,
}

/// Creates a channel. The next page shows the secret of a webhook, once.
pub(crate) async fn add_channel(
    State(app): State<App>,
    by: ByCaller,
    frame: Frame,
    Fields(form): Fields<ChannelForm>,
) -> PageResult {
    let made = match read_body(form.body()) {
        Ok(body) => channels::create(State(app.clone()), by, Body(body)).await,
        Err(problem) => Err(problem),
    };
    let form_result = match made {
        Ok((_, Json(channel))) => FormResult { secret: channel.secret, ..FormResult::default() },
        Err(problem) => FormResult { channel: form, ..wrong(&problem)? },
    };
    draw_with(&app, frame, form_result).await
}

/// Changes a channel. An empty secret keeps the stored one.
pub(crate) async fn change_channel(
    State(app): State<App>,
    by: ByCaller,
    frame: Frame,
    path: ChannelPath,
    Fields(form): Fields<ChannelForm>,
) -> PageResult {
    let id = path.0;
    let mut body = form.body();
    body.remove("kind");
    let changed = match read_body(body) {
        Ok(body) => channels::patch(State(app.clone()), by, path, Body(body)).await,
        Err(problem) => Err(problem),
    };
    match changed {
        Ok(_) => Ok(back()),
        Err(problem) => {
            let changed_channel = Some((id, form));
            draw_with(&app, frame, FormResult { changed_channel, ..wrong(&problem)? }).await
        }
    }
}

/// Sends a test through a channel and shows its result.
pub(crate) async fn test_channel(State(app): State<App>, by: ByCaller, frame: Frame, path: ChannelPath) -> PageResult {
    let Json(delivery) = channels::test(State(app.clone()), by, path).await?;
    let tested = Some(delivery_line(delivery, &[], app.web().clock.now()));
    draw_with(&app, frame, FormResult { tested, ..FormResult::default() }).await
}

/// Turns a channel on or off.
pub(crate) async fn switch_channel(
    State(app): State<App>,
    by: ByCaller,
    path: ChannelPath,
    Fields(form): Fields<SwitchForm>,
) -> PageResult {
    let (body, id) = (read_body(Map::from_iter([("enabled".to_owned(), json!(form.enabled))]))?, path.0);
    let _ = channels::patch(State(app), by, path, Body(body)).await?;
    Ok(see_other(&format!("/alerts?done=channel-{}&undo={id}", on_or_off(form.enabled))))
}

/// Deletes a channel.
pub(crate) async fn delete_channel(by: ByCaller, path: ChannelPath) -> PageResult {
    channels::delete(by, path).await?;
    Ok(see_other("/alerts?done=deleted"))
}

/// Creates a rule.
pub(crate) async fn add_rule(
    State(app): State<App>,
    by: ByCaller,
    frame: Frame,
    Fields(form): Fields<RuleForm>,
) -> PageResult {
    let made = match read_body(form.body()) {
        Ok(body) => alerts::create(State(app.clone()), by, Body(body)).await,
        Err(problem) => Err(problem),
    };
    match made {
        Ok(_) => Ok(back()),
        Err(problem) => draw_with(&app, frame, FormResult { rule: form, ..wrong(&problem)? }).await,
    }
}

/// Changes a rule.
pub(crate) async fn change_rule(
    State(app): State<App>,
    by: ByCaller,
    frame: Frame,
    path: RulePath,
    Fields(form): Fields<RuleForm>,
) -> PageResult {
    let id = path.0;
    let mut fields = form.body();
    // An emptied field means that the alert is not repeated.
    fields.entry("repeat_minutes").or_insert(Value::Null);
    let changed = match read_body(fields) {
        Ok(body) => alerts::patch(by, path, Body(body)).await,
        Err(problem) => Err(problem),
    };
    match changed {
        Ok(_) => Ok(back()),
        Err(problem) => {
            let changed_rule = Some((id, form));
            draw_with(&app, frame, FormResult { changed_rule, ..wrong(&problem)? }).await
        }
    }
}

/// Turns a rule on or off.
pub(crate) async fn switch_rule(by: ByCaller, path: RulePath, Fields(form): Fields<SwitchForm>) -> PageResult {
    let (body, id) = (read_body(Map::from_iter([("enabled".to_owned(), json!(form.enabled))]))?, path.0);
    let _ = alerts::patch(by, path, Body(body)).await?;
    Ok(see_other(&format!("/alerts?done=rule-{}&undo={id}", on_or_off(form.enabled))))
}

/// Deletes a rule.
pub(crate) async fn delete_rule(by: ByCaller, path: RulePath) -> PageResult {
    alerts::delete(by, path).await?;
    Ok(see_other("/alerts?done=deleted"))
}

/// Retries a delivery.
pub(crate) async fn retry(State(app): State<App>, by: ByCaller, path: DeliveryPath) -> PageResult {
    let _ = alert_history::retry(State(app), by, path).await?;
    Ok(see_other("/alerts?done=retried"))
}

fn on_or_off(enabled: bool) -> &'static str {
    if enabled { "on" } else { "off" }
}

fn back() -> Response {
    see_other("/alerts?done=alerts")
}

/// Reads the body as the API does, so that both have the same rules.
fn read_body<T: serde::de::DeserializeOwned>(fields: Map<String, Value>) -> Result<T, Problem> {
    crate::input::read_json(Value::Object(fields))
}

/// The error in a submitted form, to be shown on the page. Any other problem has a page of its own.
fn wrong(problem: &Problem) -> Result<FormResult, Problem> {
    if !problem.status().is_client_error() || problem.status() == StatusCode::NOT_FOUND {
        return Err(problem.clone());
    }
    Ok(FormResult { error: Some(explanation(problem)), ..FormResult::default() })
}
