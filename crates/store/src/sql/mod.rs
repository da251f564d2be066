//! What the modules of both databases share: connections, values, rows, and how durable a
//! transaction is.

mod connection;
mod on_conflict;
mod row;
mod value;

pub(crate) use self::connection::{Connection, Pool, Source, pool_options};
pub(crate) use self::on_conflict::{Merge, OnConflict};
pub(crate) use self::row::{FromColumn, FromRow, Row};
pub(crate) use self::value::{Arguments, ToValue, Value, text};

/// What survives a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Durability {
    /// Everything but the last few seconds. For events.
    Normal,
    /// Everything that was committed. For kills and changes by people.
    Full,
}
