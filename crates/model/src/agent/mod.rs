//! Agents: their stored state, patterns and groups of names, and the kill switch.

mod exemption;
mod group;
mod kill_switch;
mod label;
mod pattern;
mod saved_agent;

pub use exemption::{Exempt, ExemptKind, Exemption, ExemptionId};
pub use group::{Group, Groups};
pub use kill_switch::{Action, Counting, KillSwitch, KillSwitchChange};
pub use label::{AgentLabels, InvalidLabel, Label};
pub use pattern::{AgentPattern, InvalidAgentPattern};
pub use saved_agent::{ActivatedBy, DeactivatedBy, Deactivation, SavedAgent};
