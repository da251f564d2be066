//! What an insert does with a row whose key exists.

/// What an insert does with a row whose key exists.
pub(crate) enum OnConflict {
    /// Skips it.
    Ignore,
    /// Runs this clause, which both databases understand.
    Clause(&'static str),
    /// Merges the row into the one with this key, column by column.
    Merge { key: &'static str, columns: Vec<(&'static str, Merge)> },
}

/// How a column of a row is merged into the one that is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Merge {
    /// The sum, up to the largest number of a column.
    Add,
    /// The larger of the two.
    Greatest,
    /// The new one.
    Replace,
}
