//! What happens to agents: scores, kills, alerts, costs and policies.

mod alerts;
mod costs;
mod kill_path;
mod policies;
mod scenarios;
