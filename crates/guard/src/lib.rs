//! How AgentGazer decides: normalise, hash, compare with the windows, score, verdict. Synchronous
//! and deterministic: no IO, no clock of its own; the same calls give the same verdicts.

mod config;
mod decision;
mod exemptions;
mod fingerprint;
mod follow;
mod guard;
mod judge;
mod least_recently_used;
mod policies;
mod progress;
mod registry;
mod replay;
mod rules;
mod score;
mod stuck;
mod window;

pub use config::GuardConfig;
pub use decision::{AgentView, Configured, Decision, Followed, NewCall, PreparedCall, Scored, Ticket, Verdict};
pub use fingerprint::conversation_id;
pub use fingerprint::normalise::{ID_MASK, NUMBER_MASK, Numbers, TIME_MASK, normalise};
pub use fingerprint::simhash::text_hash;
pub use follow::ended_call;
pub use guard::Guard;
pub use policies::{Budget, Charge, GroupLimits, LimitCharge, Limits, Policies, Refused, Reservation, Unit};
pub use replay::{BodyHash, GrowingBody, Judged, PastCall, PastCalls, Replay, what_if};
pub use rules::{REST, is_later_round};
pub use score::rescore;
