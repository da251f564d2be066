//! How AgentGazer decides: normalise, hash, compare with the windows, score, verdict. Synchronous and deterministic:
//! no IO, no clock of its own; the same calls give the same verdicts.

mod guard;

pub use guard::{AgentView, Configured, Decision, Guard, GuardConfig, NewCall, Scored, Ticket, Verdict};
