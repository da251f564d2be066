//! The course of a loop: its cycle, its start and its cost, and what happened to the agent
//! afterwards.

use model::{IncidentState, Timestamp};

use crate::api::incidents::IncidentView;
use crate::pages::number::{Count, Moment, Money};
use crate::pages::words::incident as words;

/// The course, ready to be drawn.
pub(super) struct Course {
    pub(super) cycle: String,
    pub(super) stuck: Option<Moment>,
    pub(super) calls: Count,
    pub(super) cost: Option<Money>,
    pub(super) per_hour: Option<Money>,
    /// `None` if nothing was stopped.
    pub(super) refused: Option<Count>,
    pub(super) closed: Option<Closed>,
}

/// The activation of the agent after the incident.
pub(super) struct Closed {
    pub(super) at: Moment,
    pub(super) by: Option<&'static str>,
}

impl Course {
    pub(super) fn new(incident: &IncidentView, now: Timestamp) -> Course {
        let moment = |at: Timestamp| Moment::new(at, now);
        Course {
            cycle: words::cycle(incident.cycle.as_ref()),
            stuck: incident.stuck_since.map(moment),
            calls: incident.stuck_calls.into(),
            cost: incident.loop_cost_usd.map(Money::from),
            per_hour: incident.loop_cost_per_hour_usd.map(Money::from),
            refused: (incident.state != IncidentState::Observed).then(|| incident.refused.into()),
            closed: incident
                .closed_at
                .map(|at| Closed { at: moment(at), by: incident.closed_by.map(words::activated_by) }),
        }
    }
}
