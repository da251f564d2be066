//! How AgentGazer decides: normalise, hash, compare with the windows, score, verdict. Synchronous
//! and deterministic: no IO, no clock of its own; the same calls give the same verdicts.

mod agent;
mod agents;
mod canonical;
mod entry;
mod error_text;
mod exemptions;
mod fingerprint;
mod guard;
mod judge;
mod name_hash;
mod normalise;
mod orphans;
mod policies;
mod progress;
mod replay;
mod rules;
mod score;
mod simhash;
mod slots;
mod stuck;
mod targets;
mod window;
mod words;

pub use exemptions::rescore;
pub use fingerprint::conversation_id;
pub use guard::{AgentView, Configured, Decision, Guard, GuardConfig, NewCall, PreparedCall, Scored, Ticket, Verdict};
pub use normalise::{ID_MASK, NUMBER_MASK, Numbers, TIME_MASK, normalise};
pub use policies::{Budget, Charge, Limits, Policies, Refused, Reservation};
pub use replay::{BodyHash, GrowingBody, Judged, PastCall, PastCalls, Replay, what_if};
pub use rules::REST;
pub use simhash::text_hash;
