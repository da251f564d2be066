//! Commands about agents: their state, their kill switch, policy, exemptions, groups and keys, and
//! how they are restored at start.

mod activation;
mod exemptions;
mod groups;
mod keys;
mod kill_switch;
mod members;
mod policies;
mod restore;
mod view;

pub use activation::AgentChange;
pub use exemptions::{ExemptionOffer, LONGEST_EXEMPTION_DAYS, NewExemption};
pub use groups::{GroupChange, GroupStatus};
pub use keys::NewAgentKey;
pub use kill_switch::KillSwitchStatus;
pub use policies::{DefaultPolicy, PolicyStatus};
pub use restore::{restore_guard, restore_older_agents};
pub use view::Agent;
