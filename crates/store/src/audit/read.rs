//! Reads the audit log.

use model::{ActivatedBy, ActorKind, Role, Timestamp};

use super::AuditRow;
use crate::columns::{self, invalid, unsigned};
use crate::database::dialect::{self, contains_pattern};
use crate::database::{self, QueryBuilder, Row};
use crate::{Page, PageRequest, Store, StoreError};

/// Which rows of the audit log.
#[derive(Clone, Debug, Default)]
pub struct AuditFilter {
    /// Only actors whose name contains this, in any case.
    pub actor: Option<String>,
    /// Only actions that begin with this, like `agent.` or `agent.activate`.
    pub action: Option<String>,
    /// Only targets that contain this, in any case.
    pub target: Option<String>,
    /// From this time on.
    pub from: Option<Timestamp>,
    /// Before this time.
    pub to: Option<Timestamp>,
}

impl Store {
    /// A page of the audit log, newest first.
    pub async fn audit(&self, filter: &AuditFilter, page: &PageRequest) -> Result<Page<AuditRow>, StoreError> {
        let mut query = QueryBuilder::new("select * from audit where true");
        for (column, text) in [("actor_name", &filter.actor), ("target", &filter.target)] {
            if let Some(text) = text {
                query.push(" and ").push(column).push(dialect::like!());
                query.push_bind(contains_pattern(text)).push(r" escape '\'");
            }
        }
        if let Some(action) = &filter.action {
            let pattern = contains_pattern(action).trim_start_matches('%').to_owned();
            query.push(" and action").push(dialect::like!()).push_bind(pattern).push(r" escape '\'");
        }
        if let Some(from) = filter.from {
            query.push(" and at >= ").push_bind(from.as_millis());
        }
        if let Some(to) = filter.to {
            query.push(" and at < ").push_bind(to.as_millis());
        }
        if let Some(after) = page.after()? {
            let number: i64 = after.parse().map_err(|_| StoreError::Conflict("cursor is not a number".to_owned()))?;
            query.push(" and number < ").push_bind(number);
        }
        query.push(" order by number desc limit ").push_bind(page.rows());
        let rows = query.build().try_map(audit_row).fetch_all(&self.readers).await?;
        Ok(Page::of(rows, page, |row| row.number.to_string()))
    }

    /// At most `limit` rows after the one with this number, oldest first.
    pub async fn audit_after(&self, number: u64, limit: u32) -> Result<Vec<AuditRow>, StoreError> {
        Ok(self.audit_rows(number, limit).await?)
    }

    pub(super) async fn audit_rows(&self, after: u64, limit: u32) -> Result<Vec<AuditRow>, sqlx::Error> {
        let query = database::query("select * from audit where number > $1 order by number limit $2");
        let query = query.bind(columns::signed(after)).bind(i64::from(limit));
        query.try_map(audit_row).fetch_all(&self.readers).await
    }
}

/// Fails for a value that the program never writes: someone edited the row.
fn audit_row(row: Row) -> Result<AuditRow, sqlx::Error> {
    Ok(AuditRow {
        number: row.try_get("number").map(unsigned)?,
        at: columns::timestamp(&row, "at")?,
        actor_kind: ActorKind::parse(row.try_get("actor_kind")?).ok_or_else(|| invalid("actor_kind"))?,
        actor_id: row.try_get("actor_id")?,
        actor_name: row.try_get("actor_name")?,
        role: match row.try_get("role")? {
            super::NO_ROLE => None,
            word => Some(Role::parse(word).ok_or_else(|| invalid("role"))?),
        },
        address: row.try_get("address")?,
        via: ActivatedBy::parse(row.try_get("via")?).ok_or_else(|| invalid("via"))?,
        action: row.try_get("action")?,
        target: row.try_get("target")?,
        before: row.try_get("before")?,
        after: row.try_get("after")?,
        reason: row.try_get("reason")?,
        hash: row.try_get("hash")?,
    })
}
