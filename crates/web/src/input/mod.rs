//! Strict reading of bodies, parameters and paths. Errors name the field and what it takes.

mod body;
mod error_text;
mod form;
mod path;
mod query;
mod range;
mod strict;

pub(crate) use body::{Body, MaybeBody, present, read_json};
pub(crate) use form::{Fields, Reason};
pub(crate) use path::{
    AgentKeyPath, AgentPath, ChannelPath, DeliveryPath, EventPath, ExemptionPath, GroupPath, IdPath, IncidentPath,
    ProviderPath, RulePath,
};
pub(crate) use query::{Filters, Paging, Parameters};
pub(crate) use range::RangeQuery;
