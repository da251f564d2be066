//! Finds the agents that fail: most of their calls of the last hours, and most of the newest ones,
//! failed or were refused.

use model::{AgentId, BlockReason, Event, EventType, Timestamp};
use store::{EventFilter, EventRow, PageRequest, Period, Totals};

use super::{is_active, is_spent};
use crate::app::App;
use crate::event_reader::EventReader;
use crate::pages::plain::plain;
use crate::problem::Problem;

/// The current hour and the one before it.
const FAILING_HOURS: u32 = 2;
/// With fewer calls an agent does not count as failing.
const FAILING_CALLS: u64 = 10;
/// The number of newest events that decide whether an agent still fails.
const NEWEST_READ: u32 = 10;
/// The most agents with calls that are read.
const CALLERS_READ: u32 = 500;

/// An agent most of whose calls fail or are refused.
pub(super) struct FailingAgent {
    pub(super) id: AgentId,
    /// Its calls of the last hours.
    pub(super) totals: Totals,
    pub(super) loss: Loss,
    pub(super) cause: Cause,
}

/// What became of most calls of such an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::pages) enum Loss {
    Failed,
    Refused,
}

impl Loss {
    fn of(totals: &Totals) -> Loss {
        if totals.errors > totals.blocked { Loss::Failed } else { Loss::Refused }
    }

    /// The cause in the newest of these events that is such a call.
    fn cause(self, newest: Vec<EventRow>) -> Cause {
        let mut events = newest.into_iter().map(|row| row.event);
        let cause = match self {
            Loss::Failed => events.find(Event::is_error).map(|event| Cause::Error {
                status: event.status.filter(|status| *status >= 400),
                error: event.error.as_deref().map(plain),
            }),
            Loss::Refused => events.find_map(|event| event.block_reason).map(Cause::Refusal),
        };
        cause.unwrap_or(Cause::Unknown)
    }

    /// The filter that shows these calls, as the address of the request log names it.
    pub(in crate::pages) fn filter(self) -> &'static str {
        match self {
            Loss::Failed => "failed",
            Loss::Refused => "blocked",
        }
    }
}

/// Why the newest of these calls failed or was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::pages) enum Cause {
    Unknown,
    Error {
        status: Option<u16>,
        /// The provider's message, or the failure on the way to it.
        error: Option<String>,
    },
    Refusal(BlockReason),
}

/// Active agents most of whose calls fail or are refused, except those with a spent budget.
pub(super) async fn of_all(app: &App, events: &EventReader, now: Timestamp) -> Result<Vec<FailingAgent>, Problem> {
    let figures = app.web().store.agent_figures(Period::last_hours(FAILING_HOURS, now), CALLERS_READ).await?;
    let mut found = Vec::new();
    for (id, totals) in figures {
        found.extend(failing_agent(app, events, &id, totals, now).await?);
    }
    Ok(found)
}

/// One agent, if it fails.
pub(super) async fn of_agent(
    app: &App,
    events: &EventReader,
    id: &AgentId,
    now: Timestamp,
) -> Result<Option<FailingAgent>, Problem> {
    let period = Period::last_hours(FAILING_HOURS, now);
    let totals = app.web().store.figures_of(std::iter::once(id), period).await?.remove(id).unwrap_or_default();
    failing_agent(app, events, id, totals, now).await
}

/// The agent, if most of its calls of the last hours and of the newest ones failed or were refused.
async fn failing_agent(
    app: &App,
    events: &EventReader,
    id: &AgentId,
    mut totals: Totals,
    now: Timestamp,
) -> Result<Option<FailingAgent>, Problem> {
    if !is_failing(&totals) || !is_active(app, id) || is_spent(app, id, now) {
        return Ok(None);
    }
    // An activation ends the time before it: the agent may have been stopped then.
    let from = Period::last_hours(FAILING_HOURS, now).from();
    let while_inactive = app.web().store.refused_while_inactive(id, from).await?;
    totals.blocked = totals.blocked.saturating_sub(while_inactive);
    if !is_failing(&totals) {
        return Ok(None);
    }
    let of_agent = EventFilter { agent: Some(id.clone()), ..EventFilter::default() };
    let newest = events.events(&of_agent, &PageRequest { limit: NEWEST_READ, cursor: None }).await?.items;
    let loss = Loss::of(&totals);
    Ok(still_fails(&newest).then(|| FailingAgent { id: id.clone(), totals, loss, cause: loss.cause(newest) }))
}

/// Whether most of an agent's newest calls failed or were refused: an agent whose provider works
/// again no longer needs attention.
fn still_fails(newest: &[EventRow]) -> bool {
    let (mut calls, mut lost) = (0, 0);
    for row in newest {
        let is_lost = match row.event.event_type {
            EventType::LlmCall => row.event.is_error(),
            EventType::Blocked | EventType::KillSwitch => true,
            EventType::AgentActivated | EventType::AgentDeactivated => continue,
        };
        calls += row.count;
        lost += if is_lost { row.count } else { 0 };
    }
    2 * lost > calls
}

/// Whether most of these calls failed or were refused.
fn is_failing(totals: &Totals) -> bool {
    let calls = totals.requests + totals.blocked;
    calls >= FAILING_CALLS && 2 * (totals.errors + totals.blocked) > calls
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agent_fails_if_most_of_enough_calls_do() {
        let totals = |requests, errors, blocked| Totals { requests, errors, blocked, ..Totals::default() };
        for (totals, expected) in [
            (totals(10, 6, 0), true),
            (totals(10, 5, 0), false),
            (totals(9, 9, 0), false),
            (totals(0, 0, 10), true),
            (totals(50, 0, 10), false),
        ] {
            assert_eq!(is_failing(&totals), expected, "{totals:?}");
        }
    }
}
