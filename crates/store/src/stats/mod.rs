//! Statistics: sums that the writer keeps with the events, so that a page costs the same however
//! many events there are.

mod by_agent;
mod by_model;
mod conversations;
pub(crate) mod group_spending;
mod latency_histogram;
mod longer_sums;
mod read;
mod spans;
mod spending;
mod sweep;
mod totals;
mod unscored;

pub(crate) use by_model::add;
pub use conversations::ConversationRow;
pub use latency_histogram::LatencyHistogram;
pub(crate) use longer_sums::{Portion, make_some};
pub use read::Figures;
pub(crate) use spans::{HOURS_KEPT_DAYS, Span};
pub use spans::{Period, Resolution};
pub use spending::{AgentBudget, Spent};
pub(crate) use sweep::sweep;
pub use totals::{ModelName, Totals};
pub(crate) use unscored::add as add_unscored;
