//! What comes in: bodies, parameters and paths, read strictly. Whatever is wrong is named, with what it takes.

mod body;
mod form;
mod path;
mod query;
mod range;
mod strict;
mod words;

pub(crate) use body::{Body, present, read_json};
pub(crate) use form::Fields;
pub(crate) use path::{
    AgentPath, ChannelPath, DeliveryPath, EventPath, ExemptionPath, IncidentPath, ProviderPath, RulePath,
};
pub(crate) use query::{Filters, Paging, Parameters};
pub(crate) use range::RangeQuery;
