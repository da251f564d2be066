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

pub(crate) use apply::apply;
pub use attempts::{Attempt, Outcome};
pub use change::{AlertChange, AlertTransition, Transition};
pub use deliveries::{AttemptRow, DeliveryFilter, DeliveryRow};
pub use minutes::{CallFigures, Calls};
pub(crate) use minutes::{count as count_minutes, sweep as sweep_minutes};
pub(crate) use outbox::{queue_activation, queue_incident};
pub use states::AlertState;

pub(crate) use deliveries::sweep as sweep_deliveries;
