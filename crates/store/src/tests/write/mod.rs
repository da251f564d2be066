//! What is written, acknowledged, kept through failures and deleted.

mod audit;
mod changes;
mod deletion;
mod events;
mod exemptions;
mod faults;
mod incidents;
mod invariants;
mod kills;
mod retention;
mod settings;

use super::*;
