//! What calls cost, and the limits of agents and groups.

mod costs;
mod groups;
mod policies;
