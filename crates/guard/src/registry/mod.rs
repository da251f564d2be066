//! The agents in memory: which ones there are, their state, and which are evicted when there are
//! too many.

mod agent;
mod agents;
mod name_hash;
mod open_agents;
mod released_calls;
mod slot;

pub(crate) use agent::{Arrival, Ended, OwnCall, Settings, StoredAgent, seconds};
pub(crate) use agents::Registry;
