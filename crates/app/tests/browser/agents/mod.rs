//! The pages of one agent: requests, incidents, policy, what-if.

mod agent_page;
mod default_policy;
mod evidence;
mod false_alarm;
pub(crate) mod policy;
mod what_if;
