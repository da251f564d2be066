//! Commands about agents: state, settings, keys and groups.

mod activation;
mod exemptions;
mod groups;
mod keys;
mod kill_switch;
mod labels;
mod new_agent;
mod policy;
mod reason;

pub(super) use activation::agent_id;
pub use activation::{activate, deactivate, list};
pub use exemptions::exemptions;
pub use groups::groups;
pub use keys::keys;
pub use kill_switch::kill_switch;
pub use labels::labels;
pub use policy::policy;
