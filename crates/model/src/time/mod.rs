//! Time: timestamps, the clock, and time zones.

mod clock;
mod zone;

pub use clock::{Clock, ClockJump, ClockWatch, ManualClock, Timestamp};
pub use zone::Zone;
