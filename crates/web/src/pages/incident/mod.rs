//! One incident: how the score came about, and the calls that made it, as text.

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use model::{IncidentId, IncidentState, Matched};

use super::score_bar::ScoreBar;
use super::{assets, page, problem_page, speak};
use crate::api::Signal;
use crate::api::evidence::{self, EvidenceView};
use crate::api::incidents::{self, IncidentView};
use crate::app::App;
use crate::input::IncidentPath;
use crate::problem::Problem;

#[derive(Template)]
#[template(path = "incident.html")]
struct IncidentPage {
    agent: String,
    when: String,
    at: String,
    what: String,
    provider: String,
    settings: String,
    bar: ScoreBar,
    signals: [SignalLine; 3],
    total: String,
    evidence: Vec<EvidenceLine>,
}

struct SignalLine {
    name: &'static str,
    count: u32,
    weight: String,
    score: String,
}

struct EvidenceLine {
    number: usize,
    call: String,
    time: String,
    matched: String,
    request: Option<String>,
    response: Option<String>,
    request_chars: String,
    response_chars: String,
    truncated: bool,
}

/// Draws the page.
pub(crate) async fn show(State(app): State<App>, id: Result<IncidentPath, Problem>) -> Response {
    let drawn = match id {
        Ok(IncidentPath(id)) => read(&app, id).await,
        Err(problem) => Err(problem),
    };
    match drawn {
        Ok(incident) => page(StatusCode::OK, &incident),
        Err(problem) => problem_page(&problem),
    }
}

async fn read(app: &App, id: IncidentId) -> Result<IncidentPage, Problem> {
    let incident = incidents::read(app, id).await?;
    let evidence = evidence::read(app, id).await?;
    let signals = &incident.signals;
    Ok(IncidentPage {
        agent: incident.agent_id.to_string(),
        when: speak::ago(incident.timestamp, app.web().clock.now()),
        at: incident.timestamp.to_string(),
        what: what_happened(&incident),
        provider: incident
            .model
            .as_ref()
            .map_or_else(|| incident.provider.clone(), |model| format!("{}, {model}", incident.provider)),
        settings: format!(
            "window {} calls ({} window fired), threshold {}, counting {}",
            incident.window_size,
            incident.window.as_str(),
            incident.threshold,
            incident.counting.as_str()
        ),
        bar: ScoreBar::new(incident.score, incident.threshold, signals),
        signals: [
            signal_line("Similar prompts", signals.similar_prompts),
            signal_line("Similar responses", signals.similar_responses),
            signal_line("Repeated tool calls", signals.repeated_tool_calls),
        ],
        total: format!("{:.1}", incident.score),
        evidence: evidence.into_iter().enumerate().map(|(index, call)| evidence_line(index + 1, call)).collect(),
    })
}

fn what_happened(incident: &IncidentView) -> String {
    match incident.state {
        IncidentState::Open => "Stopped by the kill switch; inactive until someone activates it.".to_owned(),
        IncidentState::Closed => "Stopped by the kill switch; activated again since.".to_owned(),
        IncidentState::Observed => "Observed only: its calls went through.".to_owned(),
    }
}

fn signal_line(name: &'static str, signal: Signal) -> SignalLine {
    SignalLine {
        name,
        count: signal.count,
        weight: format!("×{:.1}", signal.weight),
        score: format!("{:.1}", signal.score),
    }
}

fn evidence_line(number: usize, call: EvidenceView) -> EvidenceLine {
    EvidenceLine {
        number,
        call: call.call_id.to_string(),
        time: call.timestamp.map(|time| time.to_string()).unwrap_or_default(),
        matched: call.matched.iter().map(|matched| word(*matched)).collect::<Vec<_>>().join(" + "),
        request: call.request_body,
        response: call.response_body,
        request_chars: speak::grouped(call.request_chars),
        response_chars: speak::grouped(call.response_chars),
        truncated: call.truncated,
    }
}

fn word(matched: Matched) -> &'static str {
    match matched {
        Matched::Prompt => "prompt alike",
        Matched::Response => "response alike",
        Matched::ToolCall => "same tool calls",
        Matched::Trigger => "the call that was stopped",
        Matched::Failed => "failed",
    }
}
