//! The tables of both databases.

use sqlx::{PgConnection, Row, SqliteConnection};

use crate::StoreError;
use crate::columns::unsigned;

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Integer,
    Real,
    Text,
    Bytes,
}

/// A table that both databases have.
#[derive(Clone, Debug)]
pub(super) struct Table {
    pub(super) name: String,
    pub(super) columns: Vec<(String, Kind)>,
    /// The places of the columns of its key.
    pub(super) key: Vec<usize>,
}

impl Table {
    /// All tables, those that others refer to first.
    pub(super) async fn all(
        source: &mut SqliteConnection,
        target: &mut PgConnection,
    ) -> Result<Vec<Table>, StoreError> {
        let query = "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'
            and name <> '_sqlx_migrations' order by name";
        let mut names: Vec<String> = sqlx::query_scalar(query).fetch_all(&mut *source).await?;
        names.sort_by_key(|name| matches!(name.as_str(), "evidence" | "delivery_attempts"));
        let mut tables = Vec::new();
        for name in names {
            tables.push(Table::read(name, source, target).await?);
        }
        Ok(tables)
    }

    async fn read(name: String, source: &mut SqliteConnection, target: &mut PgConnection) -> Result<Table, StoreError> {
        let query = sqlx::query("select name, pk from pragma_table_info($1) order by cid").bind(&name);
        let (mut columns, mut key) = (Vec::new(), Vec::new());
        for row in query.fetch_all(source).await? {
            let (column, place): (String, i64) = (row.try_get("name")?, row.try_get("pk")?);
            if place > 0 {
                key.push((place, columns.len()));
            }
            let kind = kind(&name, &column, target).await?;
            columns.push((column, kind));
        }
        key.sort_unstable();
        if key.is_empty() {
            return Err(StoreError::Setup(format!("the table {name} has no key to copy it by")));
        }
        Ok(Table { name, columns, key: key.into_iter().map(|(_, column)| column).collect() })
    }

    /// The number of its rows.
    pub(super) async fn count(&self, source: &mut SqliteConnection) -> Result<u64, StoreError> {
        let query = sqlx::AssertSqlSafe(format!("select count(*) from {}", self.name));
        let count: i64 = sqlx::query_scalar(query).fetch_one(source).await?;
        Ok(unsigned(count))
    }

    pub(super) fn column_names(&self) -> String {
        let names: Vec<&str> = self.columns.iter().map(|(name, _)| name.as_str()).collect();
        names.join(", ")
    }

    /// The columns of its key, each followed by `suffix`.
    pub(super) fn key_names(&self, suffix: &str) -> String {
        let names: Vec<String> = self.key.iter().map(|column| format!("{}{suffix}", self.columns[*column].0)).collect();
        names.join(", ")
    }
}

/// The type of a column in the target.
async fn kind(table: &str, column: &str, target: &mut PgConnection) -> Result<Kind, StoreError> {
    let query = "select data_type::text from information_schema.columns
        where table_schema = current_schema() and table_name = $1 and column_name = $2";
    let found: Option<String> = sqlx::query_scalar(query).bind(table).bind(column).fetch_optional(target).await?;
    match found.as_deref() {
        Some("bigint" | "integer" | "smallint") => Ok(Kind::Integer),
        Some("double precision") => Ok(Kind::Real),
        Some("text") => Ok(Kind::Text),
        Some("bytea") => Ok(Kind::Bytes),
        other => Err(StoreError::Setup(format!("the column {table}.{column} cannot be moved ({other:?})"))),
    }
}
