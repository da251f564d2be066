//! The JSON API: a folder per group of resources, a file per resource with what it shows, what it
//! takes and its handlers.

pub(crate) mod agents;
pub(crate) mod alerts;
pub(crate) mod events;
pub(crate) mod incidents;
mod list;
pub(crate) mod openapi;
pub(crate) mod people;
mod server;
mod signals;
pub(crate) mod stats;
pub(crate) mod stream;

pub(crate) use agents::{agent_keys, exemptions, groups, kill_switch, labels, policy, recording};
pub(crate) use alerts::{channels, history as alert_history};
pub(crate) use events::export;
pub(crate) use incidents::{evidence, offers};
pub(crate) use list::List;
use openapi::schemas;
pub(crate) use server::{health, metrics, providers, replicas, settings, smtp, status, token};
pub(crate) use signals::{Signal, Signals};
