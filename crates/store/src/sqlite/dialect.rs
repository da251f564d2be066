//! The places where SQLite's SQL differs from PostgreSQL's. Statements elsewhere use these names.

/// The sum of a column as an integer. `sum` fails where the result is too large for a column;
/// `total` does not, and the cast ends at the largest number.
macro_rules! sum {
    ($column:literal) => {
        concat!("cast(total(", $column, ") as integer)")
    };
}
pub(crate) use sum;

/// The smaller of two values.
pub(crate) const LEAST: &str = "min";

/// The larger of two values.
macro_rules! greatest {
    () => {
        "max"
    };
}
pub(crate) use greatest;

/// Inserts a row, or replaces the one with the same key.
macro_rules! insert_or_replace {
    () => {
        "insert or replace into "
    };
}
pub(crate) use insert_or_replace;

/// Inserts rows and skips those whose key exists.
///
/// A statement of many rows that may fail half-way makes SQLite copy every page before it changes
/// it. The values come from our own types, so only the key can conflict.
pub(crate) const INSERT_OR_IGNORE: &str = "insert or ignore into ";

/// Compares without regard to case, in SQLite for ASCII letters only.
macro_rules! like {
    () => {
        " like "
    };
}
pub(crate) use like;

/// Makes the query use an index; SQLite has no statistics by which it could choose.
macro_rules! by_index {
    ($index:literal) => {
        concat!("indexed by ", $index)
    };
}
pub(crate) use by_index;

/// The pattern for text that contains `text` in any case; the escape character is a backslash.
pub(crate) fn contains_pattern(text: &str) -> String {
    let escaped = text.to_lowercase().replace('\\', r"\\").replace('%', r"\%").replace('_', r"\_");
    format!("%{escaped}%")
}
