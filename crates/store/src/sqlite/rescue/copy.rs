//! Copies what can be read of a database to another.

use std::path::Path;

use sqlx::{AssertSqlSafe, SqliteConnection};

use super::super::is_full;
use super::CopyExtent;

/// All tables and the order of their rows; what people have set comes first, the largest last.
pub(super) const TABLES: &[(&str, &str)] = &[
    ("settings", "rowid"),
    ("users", "rowid"),
    ("api_tokens", "rowid"),
    ("audit", "rowid"),
    ("audit_head", "rowid"),
    ("providers", "rowid"),
    ("channels", "rowid"),
    ("alert_rules", "rowid"),
    ("policies", "rowid"),
    ("agent_keys", "rowid"),
    ("agent_groups", "rowid"),
    ("group_spending", "group_name, start"),
    ("exemptions", "rowid"),
    ("agents", "rowid"),
    ("incidents", "rowid"),
    ("evidence", "rowid"),
    ("alert_states", "rule_id, agent_id"),
    ("deliveries", "id"),
    ("delivery_attempts", "delivery_id, position"),
    ("sums_made", "hours"),
    ("agent_sums", "hours, start, agent_id"),
    ("rollups", "span, start, agent_id, provider, model, writer"),
    ("conversations", "agent_id, conversation"),
    ("agent_minutes", "minute, agent_id"),
    ("unscored", "agent_id, hour, reason"),
    ("events", "id"),
];

/// The first table with rows per call: too large for a full disk.
const HISTORY: &str = "events";

/// All tables before that one.
pub(super) fn without_history() -> &'static [(&'static str, &'static str)] {
    let history = TABLES.iter().position(|(table, _)| *table == HISTORY);
    &TABLES[..history.unwrap_or(TABLES.len())]
}

/// Rows of a damaged table that are copied at a time: an unreadable row loses its whole portion.
const PORTIONS: [i64; 3] = [512, 32, 1];

/// Rows whose parent could not be read.
const ORPHANS: [&str; 2] = [
    "delete from rescued.evidence where incident_id not in (select id from rescued.incidents)",
    "delete from rescued.delivery_attempts where delivery_id not in (select id from rescued.deliveries)",
];

/// Copies the database of `source` to a new file.
pub(super) async fn whole(source: &mut SqliteConnection, target: &Path) -> Result<(), sqlx::Error> {
    let query = sqlx::query("vacuum into $1").bind(target.to_string_lossy().into_owned());
    query.execute(source).await.map(drop)
}

/// Copies what can be read of each of `tables` to the empty database `target`.
pub(super) async fn tables(
    source: &mut SqliteConnection,
    target: &Path,
    tables: &[(&str, &str)],
) -> Result<CopyExtent, sqlx::Error> {
    // Left over from a failed attempt.
    let _ = sqlx::query("detach database rescued").execute(&mut *source).await;
    sqlx::query("pragma foreign_keys = off").execute(&mut *source).await?;
    let attach = sqlx::query("attach database $1 as rescued").bind(target.to_string_lossy().into_owned());
    attach.execute(&mut *source).await?;
    let mut extent = if tables.len() == TABLES.len() { CopyExtent::Whole } else { CopyExtent::Readable };
    for (table, order) in tables {
        let statement = format!("insert or replace into rescued.{table} select * from main.{table}");
        if let Err(error) = sqlx::query(AssertSqlSafe(statement)).execute(&mut *source).await {
            if is_full(&error) {
                return Err(error);
            }
            tracing::warn!("the table {table} cannot be read as a whole: {error}");
            extent = CopyExtent::Readable;
            for direction in ["asc", "desc"] {
                let order = order.split(", ").map(|column| format!("{column} {direction}")).collect::<Vec<_>>();
                copy_portions(source, table, &order.join(", ")).await;
            }
        }
    }
    for statement in ORPHANS {
        sqlx::query(statement).execute(&mut *source).await?;
    }
    sqlx::query("detach database rescued").execute(&mut *source).await?;
    sqlx::query("pragma foreign_keys = on").execute(source).await?;
    Ok(extent)
}

/// Copies rows in one direction, up to the first that cannot be read.
async fn copy_portions(source: &mut SqliteConnection, table: &str, order: &str) {
    let mut copied = 0_i64;
    for portion in PORTIONS {
        while let Ok(true) = copy_portion(source, table, order, (portion, copied)).await {
            copied += portion;
        }
    }
}

/// Copies some rows; `false` if there are no more.
async fn copy_portion(
    source: &mut SqliteConnection,
    table: &str,
    order: &str,
    (portion, copied): (i64, i64),
) -> Result<bool, sqlx::Error> {
    let rows = format!("from main.{table} order by {order} limit $1 offset $2");
    let insert = format!("insert or ignore into rescued.{table} select * {rows}");
    sqlx::query(AssertSqlSafe(insert)).bind(portion).bind(copied).execute(&mut *source).await?;
    let next = sqlx::query(AssertSqlSafe(format!("select 1 {rows}"))).bind(1).bind(copied);
    Ok(next.fetch_optional(source).await?.is_some())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
    use std::collections::BTreeSet;

    use sqlx::{ConnectOptions, Connection};

    use super::*;
    use crate::files::create_private_file;
    use crate::sqlite::{connect, migrate};
    use crate::tuning::Tuning;

    #[tokio::test]
    async fn rescue_copies_every_table() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("agentgazer.db");
        create_private_file(&database).unwrap();
        migrate(&database, &Tuning::default()).await.unwrap();
        let mut connection = connect::writer(&database, &Tuning::default()).connect().await.unwrap();
        let query = "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'
            and name <> '_sqlx_migrations'";
        let names: Vec<String> = sqlx::query_scalar(query).fetch_all(&mut connection).await.unwrap();
        connection.close().await.unwrap();
        let copied: BTreeSet<String> = TABLES.iter().map(|(table, _)| (*table).to_owned()).collect();
        assert_eq!(copied, names.into_iter().collect::<BTreeSet<_>>());
    }
}
