//! What happens, as it happens: server-sent events for the dashboard and for programs that watch.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Sse;
use axum::response::sse::{Event as SseEvent, KeepAlive};
use model::EventType;
use serde_json::json;
use store::Notice;
use tokio::time::interval;
use tokio_stream::wrappers::errors::BroadcastStreamRecvError;
use tokio_stream::wrappers::{BroadcastStream, IntervalStream};
use tokio_stream::{Stream, StreamExt};

use super::events::EventView;
use super::kill_switch::SettingsView;
use crate::app::App;
use crate::gate::is_known;
use crate::problem::Refusals;

/// How soon a stream ends once the server is stopping (an endless answer would hold up its end) or its client is let in no
/// more.
const END_CHECK: Duration = Duration::from_millis(500);

/// Calls, blocks, kills, activations, incidents and settings as they are written.
///
/// Events: `call`, `blocked`, `kill`, `activated`, `deactivated` (data: an Event), `incident` (`id`, `agent_id`),
/// `configured` (`agent_id`, `kill_switch`), and `lagged` (`missed`) for a client that is too slow.
#[utoipa::path(get, path = "/api/stream", tag = "stream", operation_id = "stream",
    responses((status = 200, body = String, content_type = "text/event-stream"), Refusals))]
pub(crate) async fn get(
    State(app): State<App>,
    headers: HeaderMap,
) -> Sse<impl Stream<Item = Result<SseEvent, Infallible>>> {
    let notices = BroadcastStream::new(app.web().recorder.subscribe()).map(Some);
    let ticks = IntervalStream::new(interval(END_CHECK)).map(|_| None);
    let events = notices
        .merge(ticks)
        // A stream outlives neither its session nor its token.
        .take_while(move |_| !app.is_draining() && is_known(&app, &headers))
        .filter_map(|notice| Some(Ok(notice?.map_or_else(|lag| lagged(&lag), show))));
    Sse::new(events).keep_alive(KeepAlive::default())
}

fn show(notice: Notice) -> SseEvent {
    match notice {
        Notice::Event(event) => {
            let name = name(event.event_type);
            data(name, &EventView::new(event.as_ref().clone(), 1))
        }
        Notice::Incident { id, agent } => data("incident", &json!({"id": id, "agent_id": agent})),
        Notice::Configured { agent, kill_switch } => {
            let settings = SettingsView::from(kill_switch);
            data("configured", &json!({"agent_id": agent, "kill_switch": settings}))
        }
    }
}

fn name(event_type: EventType) -> &'static str {
    match event_type {
        EventType::LlmCall => "call",
        EventType::Blocked => "blocked",
        EventType::KillSwitch => "kill",
        EventType::AgentActivated => "activated",
        EventType::AgentDeactivated => "deactivated",
    }
}

fn lagged(error: &BroadcastStreamRecvError) -> SseEvent {
    let BroadcastStreamRecvError::Lagged(missed) = error;
    data("lagged", &json!({"missed": missed}))
}

fn data(name: &'static str, value: &impl serde::Serialize) -> SseEvent {
    // A view always serialises; were it not so, an event without data is better than none.
    SseEvent::default().event(name).json_data(value).unwrap_or_else(|_| SseEvent::default().event(name).data("{}"))
}
