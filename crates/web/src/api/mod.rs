//! The JSON API: one file per resource, each with what it shows, what it takes and its handlers.

pub(crate) mod agents;
mod alert_condition;
pub(crate) mod alert_history;
pub(crate) mod alerts;
mod channel_settings;
pub(crate) mod channels;
mod csv;
pub(crate) mod events;
pub(crate) mod evidence;
pub(crate) mod exemptions;
pub(crate) mod export;
pub(crate) mod health;
pub(crate) mod incidents;
pub(crate) mod kill_switch;
mod limits;
mod list;
mod masked_url;
pub(crate) mod offers;
pub(crate) mod openapi;
pub(crate) mod policy;
pub(crate) mod providers;
pub(crate) mod settings;
mod signals;
pub(crate) mod stats;
pub(crate) mod status;
pub(crate) mod stream;
pub(crate) mod token;
mod words;

pub(crate) use list::List;
pub(crate) use signals::{Signal, Signals};
