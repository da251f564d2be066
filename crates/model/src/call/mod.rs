//! Calls: their content, their fingerprints, and their record.

mod content;
mod event;
mod fingerprint;
mod kept_call;
mod thought;
mod unscored;

pub use content::{Answered, Asked, Continues, ToolCall, Usage};
pub use event::{BlockReason, CLIENT_WENT_AWAY, Event, EventType};
pub use fingerprint::{
    Fingerprint, Novelty, Outcome, ResponsePrint, ResultPrint, Step, StepKind, TextHash, ToolStep, Turn, WordSet,
};
pub use kept_call::{KeptBody, KeptCall, KeptCalls, KeptResponse};
pub use thought::is_thought;
pub use unscored::{Unread, Unscored};
