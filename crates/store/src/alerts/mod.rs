//! Alerts: channels, rules and their states, and the outbox, which becomes the history.

mod apply;
mod attempts;
mod change;
mod channels;
mod deliveries;
mod digest;
mod minutes;
mod outbox;
mod rules;
mod states;

use std::time::Duration;

pub(crate) use apply::apply;
pub use attempts::{Attempt, Outcome};
pub use change::{AlertChange, AlertTurn, Turn};
pub use deliveries::{AttemptRow, DeliveryFilter, DeliveryRow};
pub use minutes::{CallFigures, Calls};
pub(crate) use minutes::{count as count_minutes, sweep as sweep_minutes};
pub(crate) use outbox::{activated, incident};
pub use states::AlertState;

pub(crate) use deliveries::sweep as sweep_deliveries;

/// How alerts that come close together are grouped. The first is sent at once; the next ones wait
/// until no more come for a moment; after those are sent, the rest waits for the end of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grouping {
    /// How long a window is open; zero sends every alert by itself.
    pub window: Duration,
    /// How long no alert must come before the waiting ones are sent.
    pub quiet: Duration,
}

impl Default for Grouping {
    fn default() -> Self {
        Grouping { window: Duration::from_secs(60), quiet: Duration::from_secs(5) }
    }
}
