//! The spans of time that sums are kept for, how far they are made, and the split of a period into
//! few of them.

mod period;
mod progress;
mod runs;
mod span;

pub use period::{Period, Resolution};
pub(super) use progress::Progress;
pub(super) use runs::Run;
pub(crate) use span::{HOURS_KEPT_DAYS, Span};
