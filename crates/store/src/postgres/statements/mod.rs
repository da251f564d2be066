//! The shared statements in the form that PostgreSQL takes.

mod bulk_insert;
pub(crate) mod dialect;
mod query;

pub(crate) use self::bulk_insert::BulkInsert;
pub(crate) use self::query::{Query, query};
