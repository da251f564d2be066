//! The words of statements that PostgreSQL spells differently. Statements use these names, which
//! expand to what SQLite takes; `postgres::statements::dialect` knows the other spelling of each.

/// The sum of a column as an integer. In SQLite `sum` fails where the result is too large for a
/// column; `total` does not, and the cast ends at the largest number.
macro_rules! sum {
    ($column:literal) => {
        concat!("cast(total(", $column, ") as integer)")
    };
}
pub(crate) use sum;

/// The same for a column that is not a literal.
pub(crate) fn sum_of(column: &str) -> String {
    format!("cast(total({column}) as integer)")
}

/// Compares without regard to the case of ASCII letters.
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

/// Locks the rows that are read until the commit. SQLite, which takes it for a comment, has one
/// writer.
macro_rules! for_update {
    () => {
        " /* for update */"
    };
}
pub(crate) use for_update;

/// Leaves out deliveries that another server is sending. SQLite has one server.
macro_rules! not_leased {
    () => {
        " /* not leased */"
    };
}
pub(crate) use not_leased;

/// Lets any server send a delivery again.
macro_rules! end_lease {
    () => {
        " /* end lease */"
    };
}
pub(crate) use end_lease;

/// The pattern for text that contains `text` in any case; the escape character is a backslash.
pub(crate) fn contains_pattern(text: &str) -> String {
    let escaped = text.to_lowercase().replace('\\', r"\\").replace('%', r"\%").replace('_', r"\_");
    format!("%{escaped}%")
}
