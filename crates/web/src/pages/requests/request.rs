//! The page of one call: everything that is recorded of it.

use askama::Template;
use axum::extract::{Path, State};
use model::{AgentKeyId, CallId, Event, EventType};
use store::{Cursor, EventFilter, EventRow, PageRequest};

use crate::app::App;
use crate::input::{EventPath, Filters};
use crate::pages::frame::Frame;
use crate::pages::number::{Count, Money, grouped};
use crate::pages::plain::cut;
use crate::pages::requests::{self, RequestLine, is_unpriced};
use crate::pages::score_bar::ScoreBar;
use crate::pages::whole_body::{BodyQuery, which_body};
use crate::pages::words::labels::{request as labels, yes_or_no};
use crate::pages::words::problem::NO_BODY;
use crate::pages::words::units::{duration, with_unpriced};
use crate::pages::{PageResult, assets, draw, words};
use crate::problem::Problem;

/// Recorded texts are short; a longer one can only be a client's nonsense.
const LONGEST: usize = 2_000;
/// The number of the agent's earlier calls that are shown.
const BEFORE: u32 = 20;

#[derive(Template)]
#[template(path = "request.html")]
struct RequestPage {
    frame: Frame,
    line: RequestLine,
    fields: Vec<(&'static str, String)>,
    error: Option<String>,
    conversation: Option<String>,
    incident: Option<String>,
    /// The action of the agent, in words.
    story: &'static str,
    /// Why it was refused, if it was.
    refused: Option<String>,
    /// The place of the call in the incident's evidence: `#call-…`.
    evidence: String,
    /// The note on where its bodies are.
    bodies: &'static str,
    /// Whether its request and its response are recorded; `None` if the call is not recorded.
    recorded: Option<(bool, bool)>,
    /// Always `None`: recorded bodies are not counted.
    no_count: Option<Count>,
    bar: Option<ScoreBar>,
    why: String,
    requests: Vec<RequestLine>,
}

/// Draws the page.
pub(crate) async fn show(State(app): State<App>, frame: Frame, EventPath(id): EventPath) -> PageResult {
    app.web().recorder.catch_up().await;
    let row = frame.events.event(id).await?;
    let row = row.ok_or_else(|| Problem::not_found(words::problem::no_request(id)))?;
    let bar = score_bar(&app, &row).await?;
    let recorded = match &app.web().recording.file {
        Some(recordings) => recordings.bodies(id).await?,
        None => None,
    };
    let event = &row.event;
    let of_agent = EventFilter { agent: Some(event.agent.clone()), ..EventFilter::default() };
    let older = PageRequest { limit: BEFORE, cursor: Some(Cursor::after(&id.to_string())) };
    let before = frame.events.events(&of_agent, &older).await?;

    // The call itself comes first, so that similar prompts get its colour.
    let now = app.web().clock.now();
    let rows: Vec<EventRow> = std::iter::once(row.clone()).chain(before.items).collect();
    let mut lines = requests::lines(&rows, now);
    let line = lines.remove(0);
    draw(&RequestPage {
        frame,
        line,
        fields: fields(&app, &row),
        error: event.error.as_deref().map(|error| cut(error, LONGEST)),
        conversation: event.conversation.as_deref().map(|conversation| cut(conversation, LONGEST)),
        incident: event.incident.map(|id| id.to_string()),
        story: words::log::story(event.event_type),
        refused: words::log::refused(event.event_type, event.block_reason, row.count),
        evidence: if event.event_type == EventType::KillSwitch { format!("#call-{id}") } else { String::new() },
        bodies: if recorded.is_some() { words::log::RECORDED } else { words::log::bodies(event.event_type) },
        recorded,
        no_count: None,
        bar,
        why: event.score.map(|score| words::why(&score.signals.into())).unwrap_or_default(),
        requests: lines,
    })
}

/// One whole body of a recorded call.
pub(crate) async fn body(
    State(app): State<App>,
    Path((call, which)): Path<(String, String)>,
    Filters(query): Filters<BodyQuery>,
) -> PageResult {
    let gone = || Problem::not_found(NO_BODY);
    let (call, which_body) = CallId::parse(&call).zip(which_body(&which)).ok_or_else(gone)?;
    let recordings = app.web().recording.file.as_ref().ok_or_else(gone)?;
    let body = recordings.body(call, which_body).await?.ok_or_else(gone)?;
    Ok(query.answer(call, &which, body))
}

/// The score against the agent's current threshold, because the earlier one is not recorded.
async fn score_bar(app: &App, row: &EventRow) -> Result<Option<ScoreBar>, Problem> {
    let Some(score) = row.event.score else { return Ok(None) };
    let agent = crate::api::agents::read(app, row.event.agent.clone()).await?;
    Ok(Some(ScoreBar::new(score.value, agent.kill_switch.threshold, &score.signals.into())))
}

/// The name of a key, or the id of one that was revoked.
fn key_name(app: &App, id: AgentKeyId) -> String {
    let keys = app.control().agent_keys();
    let name = keys.iter().find(|it| it.key.id == id).and_then(|it| it.key.name.clone());
    name.map_or_else(|| id.to_string(), |name| format!("{name} ({id})"))
}

/// The cost of a call, or a note that it is not known.
fn cost(event: &Event) -> Option<String> {
    let known = event.cost.map(|cost| Money::from(cost).exact);
    known.or_else(|| is_unpriced(event).then(|| with_unpriced(None)))
}

fn fields(app: &App, row: &EventRow) -> Vec<(&'static str, String)> {
    let event = &row.event;
    let number = |number: Option<u64>| number.map(grouped);
    let fields = [
        (labels::ID, Some(event.id.to_string())),
        (labels::TIME, Some(event.time.to_string().replace('T', " ").replace('Z', ""))),
        (labels::MODEL_ASKED, event.model_asked.as_deref().map(|model| cut(model, LONGEST))),
        (labels::STATUS, event.status.map(|status| status.to_string())),
        (labels::FIRST_BYTE, event.first_byte_ms.map(duration)),
        (labels::LATENCY, event.latency_ms.map(duration)),
        (labels::STREAMED, Some(yes_or_no(event.streamed).to_owned())),
        (labels::TOKENS_IN, number(event.usage.input)),
        (labels::CACHED, number(event.usage.cached)),
        (labels::TOKENS_OUT, number(event.usage.output)),
        (labels::REASONING, number(event.usage.reasoning)),
        (labels::COST, cost(event)),
        (labels::KEY, event.key.map(|key| key_name(app, key))),
        (labels::TOKEN_SUBJECT, event.token_subject.as_deref().map(|subject| cut(subject, LONGEST))),
        (labels::COUNT, (row.count > 1).then(|| grouped(row.count))),
    ];
    fields.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}
