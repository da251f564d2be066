//! Translates the statements of the crate, which are written for SQLite where the two differ. See
//! `database::dialect` for the words.

use std::borrow::Cow;

use sqlx::{AssertSqlSafe, SqlSafeStr, SqlStr};

/// The statement as PostgreSQL takes it.
pub(crate) fn translate(sql: SqlStr) -> SqlStr {
    match translated(sql.as_str()) {
        Some(text) => AssertSqlSafe(text).into_sql_str(),
        None => sql,
    }
}

/// `None` if it is the same.
fn translated(sql: &str) -> Option<String> {
    let differs = ["cast(total(", " like ", "indexed by ", "?", "/* "].iter().any(|word| sql.contains(word));
    if !differs {
        return None;
    }
    let sql = sql
        // A sum of bigints is a numeric, which may be larger than a column.
        .replace("cast(total(", "cast(least(coalesce(sum(")
        .replace(") as integer)", "), 0), 9223372036854775807) as bigint)")
        .replace(" like ", " ilike ")
        .replace("/* for update */", "for update")
        .replace("/* not leased */", "and coalesce(leased_until, 0) <= now_ms()")
        .replace("/* end lease */", ", leased_until = null");
    Some(number_parameters(&without_index_hints(&sql)))
}

/// PostgreSQL chooses by its statistics.
fn without_index_hints(sql: &str) -> String {
    let mut parts = sql.split("indexed by ");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text.push_str(part.trim_start_matches(|letter: char| letter.is_ascii_alphanumeric() || letter == '_'));
    }
    text
}

/// `$1`, `$2`, … for each `?`.
fn number_parameters(sql: &str) -> String {
    let mut parts = sql.split('?');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for (number, part) in (1..).zip(parts) {
        text.push_str(&format!("${number}{part}"));
    }
    text
}

/// Text without the one character that PostgreSQL does not store.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    if text.contains('\0') { text.replace('\0', "\u{fffd}").into() } else { text.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::dialect;

    #[test]
    fn words_that_differ_are_translated() {
        let cases = [
            (
                concat!("select ", dialect::sum!("a"), ", ", dialect::sum!("b")),
                concat!(
                    "select cast(least(coalesce(sum(a), 0), 9223372036854775807) as bigint), ",
                    "cast(least(coalesce(sum(b), 0), 9223372036854775807) as bigint)",
                ),
            ),
            (concat!("a", dialect::like!(), "? and b = ?"), "a ilike $1 and b = $2"),
            (concat!("select a from b", dialect::for_update!()), "select a from b for update"),
            (
                concat!("from events ", dialect::by_index!("events_with_error"), " where true"),
                "from events  where true",
            ),
        ];
        for (written, expected) in cases {
            assert_eq!(translated(written).as_deref(), Some(expected));
        }
        assert_eq!(translated("select id from agents where id = $1"), None);
    }

    #[test]
    fn nul_is_replaced() {
        assert_eq!(clean("a\0b"), "a\u{fffd}b");
        assert!(matches!(clean("ab"), Cow::Borrowed(_)));
    }
}
