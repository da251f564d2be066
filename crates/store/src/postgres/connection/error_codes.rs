//! PostgreSQL's error codes: what they mean to people, and which of them are temporary.

/// Describes a database error for the person who runs the server.
pub(crate) fn in_plain_words(error: &sqlx::Error) -> String {
    let code = code(error);
    let words = match code.as_str() {
        "25006" => "the database is read-only",
        "28000" | "28P01" => "the database refuses the user or the password",
        "3D000" => "there is no such database",
        "42501" => "the user of the database may not do this",
        "53100" => "the disk of the database is full",
        "53300" => "the database has no free connection",
        "57P01" | "57P02" | "57P03" => "the database is stopping or starting",
        _ => return error.to_string(),
    };
    format!("{words} ({error})")
}

/// Whether the same write may succeed later: the server is at fault, not the statement or its
/// values.
pub(crate) fn is_temporary(error: &sqlx::Error) -> bool {
    let code = code(error);
    // A missing privilege or table can be restored while the server runs.
    if matches!(code.as_str(), "42501" | "42P01") {
        return true;
    }
    // Cardinality, data, constraints, syntax, unsupported features.
    !matches!(code.get(..2), Some("0A" | "21" | "22" | "23" | "42"))
}

/// Whether the statement only conflicted with another transaction and can be retried at once.
pub(crate) fn is_contention(error: &sqlx::Error) -> bool {
    // A deadlock, a failed serialization, a lock timeout.
    matches!(code(error).as_str(), "40P01" | "40001" | "55P03")
}

/// Whether the server was asked for the outcome of a transaction whose id is in its future.
pub(in crate::postgres) fn is_unknown_transaction(error: &sqlx::Error) -> bool {
    code(error) == "22023"
}

/// Whether the disk is full.
pub(crate) fn is_full(error: &sqlx::Error) -> bool {
    code(error) == "53100"
}

fn code(error: &sqlx::Error) -> String {
    error.as_database_error().and_then(|error| error.code()).unwrap_or_default().into_owned()
}
