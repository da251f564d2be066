//! Incidents: the record of a kill and the shape of its loop.

mod record;
mod stuck;
mod unrecorded;

pub use record::{Evidence, Incident, IncidentState, Kill, Likeness, Matched, MatchedCall, MissingBodies};
pub use stuck::{Cycle, Stuck, cost_per_hour};
pub use unrecorded::{AgreedKill, CheckedKills, UnrecordedKill};
