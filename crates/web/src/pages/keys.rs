//! The page of agent keys. A new key is shown once.

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use model::Timestamp;
use serde::Deserialize;

use super::frame::Frame;
use super::number::Moment;
use super::words::keys as words;
use super::words::problem::explanation;
use super::{PageResult, assets, draw_as, see_other};
use crate::api::agent_keys::{self, AgentKeyView, CreatedKeyView, NewKeyBody};
use crate::api::status::{self, RefusedCallerView};
use crate::app::App;
use crate::gate::ByCaller;
use crate::input::{AgentKeyPath, Fields};
use crate::problem::Problem;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

#[derive(Template)]
#[template(path = "keys.html")]
struct KeysPage {
    frame: Frame,
    summary: String,
    /// Whether calls need a key.
    explanation: &'static str,
    keys: Vec<KeyLine>,
    /// Calls that were refused since the start, by reason.
    refused: Vec<(&'static str, u64)>,
    /// Where wrong keys came from.
    callers: Vec<CallerLine>,
    made: Option<CreatedKeyView>,
    proxy_url: String,
    form: KeyForm,
    error: Option<String>,
}

/// One key.
struct KeyLine {
    id: String,
    agent: String,
    name: Option<String>,
    used: Option<Moment>,
    /// `2026-12-24 00:00 UTC`
    expires: Option<String>,
    is_expired: bool,
    refused: u64,
}

impl KeyLine {
    fn new(view: &AgentKeyView, now: Timestamp) -> KeyLine {
        KeyLine {
            id: view.id.to_string(),
            agent: view.agent.to_string(),
            name: view.name.clone(),
            used: view.last_used_at.map(|at| Moment::new(at, now)),
            expires: view.expires_at.map(|at| words::minute(&at.to_string())),
            is_expired: view.expires_at.is_some_and(|end| now >= end),
            refused: view.refused,
        }
    }
}

/// A client whose keys were refused.
struct CallerLine {
    address: String,
    count: u64,
    last: Moment,
}

impl CallerLine {
    fn new(view: &RefusedCallerView, now: Timestamp) -> CallerLine {
        CallerLine { address: view.address.to_string(), count: view.count, last: Moment::new(view.last_at, now) }
    }
}

/// The fields of the form for a new key.
#[derive(Default, Deserialize)]
pub(crate) struct KeyForm {
    agent: String,
    #[serde(default)]
    name: String,
    /// The last day of the key.
    #[serde(default)]
    expires: String,
}

impl KeyForm {
    fn body(&self) -> Result<NewKeyBody, Problem> {
        let given = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        let expires_at =
            given(&self.expires).map(|day| end_of_day(&day).ok_or_else(|| Problem::field("expires_at", words::DAY)));
        let agent = self.agent.trim().to_owned();
        Ok(NewKeyBody { agent, name: given(&self.name), expires_at: expires_at.transpose()? })
    }
}

fn end_of_day(day: &str) -> Option<Timestamp> {
    let begin = Timestamp::parse(&format!("{day}T00:00:00Z"))?;
    Some(Timestamp::from_millis(begin.as_millis() + DAY_MS))
}

/// Draws the page.
pub(crate) async fn show(State(app): State<App>, frame: Frame) -> PageResult {
    draw_with(&app, frame, KeyForm::default(), Ok(None))
}

/// Creates a key and shows it this once, or draws the form again with the error.
pub(crate) async fn create(
    State(app): State<App>,
    ByCaller(commands): ByCaller,
    frame: Frame,
    Fields(form): Fields<KeyForm>,
) -> PageResult {
    let made = match form.body() {
        Ok(body) => agent_keys::make(&commands, body).await,
        Err(problem) => Err(problem),
    };
    match made {
        Ok(made) => draw_with(&app, frame, KeyForm::default(), Ok(Some(made))),
        Err(problem) if problem.status().is_client_error() => draw_with(&app, frame, form, Err(explanation(&problem))),
        Err(problem) => Err(problem),
    }
}

/// Revokes a key.
pub(crate) async fn revoke(ByCaller(commands): ByCaller, AgentKeyPath(id): AgentKeyPath) -> PageResult {
    commands.revoke_agent_key(id).await?;
    Ok(see_other("/keys?done=key-revoked"))
}

fn draw_with(app: &App, frame: Frame, form: KeyForm, made: Result<Option<CreatedKeyView>, String>) -> PageResult {
    let now = app.web().clock.now();
    let status = if made.is_err() { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    let keys: Vec<KeyLine> = agent_keys::read(app).iter().map(|view| KeyLine::new(view, now)).collect();
    let refused = app.control().key_refusals().into_iter().filter(|(_, count)| *count > 0);
    let (made, error) = match made {
        Ok(made) => (made, None),
        Err(error) => (None, Some(error)),
    };
    let page = KeysPage {
        frame,
        summary: words::summary(keys.len()),
        explanation: words::explanation(app.control().requires_key()),
        keys,
        refused: refused.map(|(why, count)| (words::refusal(why), count)).collect(),
        callers: status::refused_callers(app).into_iter().map(|it| CallerLine::new(&it, now)).collect(),
        made,
        proxy_url: app.web().proxy_url.clone(),
        form,
        error,
    };
    draw_as(status, &page)
}
