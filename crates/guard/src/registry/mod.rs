//! The agents in memory: which ones there are, what each has done, and which leave when there are
//! too many.

mod agent;
mod agents;
mod name_hash;
mod released_calls;

pub(crate) use agent::{Agent, Arrival, Ended, seconds};
pub(crate) use agents::Registry;
