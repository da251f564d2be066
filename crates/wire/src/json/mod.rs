//! A JSON cursor that reads borrowed text in one pass, visits the requested fields and skips the
//! rest. It is written by hand because an agent's body is megabytes of history of which three
//! messages matter: one pass, no allocation, the last of duplicate keys wins, and nesting is
//! limited even in skipped parts.

mod cursor;
mod open_kinds;
mod scan;
mod swar;
mod totals;
mod value;

use model::Unread;

pub(crate) use cursor::Cursor;
pub use totals::JsonTotals;
pub(crate) use value::Json;

/// Why a text cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Malformed {
    /// It is not JSON.
    Invalid,
    /// It nests deeper than the cursor reads.
    TooDeep,
}

impl From<Malformed> for Unread {
    fn from(malformed: Malformed) -> Unread {
        match malformed {
            Malformed::Invalid => Unread::InvalidJson,
            Malformed::TooDeep => Unread::TooDeep,
        }
    }
}

#[cfg(test)]
mod tests;
