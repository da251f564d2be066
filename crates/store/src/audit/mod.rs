//! The audit log: who changed what, written in the transaction of the change. Rows are only
//! appended, and each holds a hash of itself and the row before it.

mod action;
mod chain;
mod head;
mod read;
mod snapshot;
mod verify;

use model::{ActivatedBy, ActorKind, Cause, Role, Timestamp};
use serde_json::{Map, Value};

pub use read::AuditFilter;
pub use verify::AuditReport;

use self::action::Audited;
use crate::Change;
use crate::columns::signed;
use crate::database::{self, Connection};
use crate::error::Failure;
use crate::files::KeyFile;

/// Stored in place of a role if the actor has none.
const NO_ROLE: &str = "none";

/// One row of the audit log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditRow {
    /// Its place in the log, from 1 on without a gap.
    pub number: u64,
    /// When.
    pub at: Timestamp,
    /// How the actor was authenticated.
    pub actor_kind: ActorKind,
    /// The id of the user or of the API token.
    pub actor_id: Option<String>,
    /// The name of the user or of the API token.
    pub actor_name: String,
    /// The actor's role; `None` if the actor is unknown.
    pub role: Option<Role>,
    /// Where the request came from.
    pub address: Option<String>,
    /// The interface that the request used.
    pub via: ActivatedBy,
    /// The action, like `agent.activate`.
    pub action: String,
    /// The target, like `agent:import-fixer`.
    pub target: Option<String>,
    /// The changed fields before the change, as JSON.
    pub before: Option<String>,
    /// The same fields after it.
    pub after: Option<String>,
    /// The reason, in the actor's own words.
    pub reason: Option<String>,
    /// The hash of this row and of the one before it.
    pub hash: String,
}

/// The row of a change that is being made.
pub(crate) struct Entry<'a> {
    cause: &'a Cause,
    audited: Audited<'a>,
    before: Option<Value>,
}

impl<'a> Entry<'a> {
    /// Reads the target of `change` before it is made. `None` if the program itself makes it.
    pub(crate) async fn begin(
        transaction: &mut Connection<'_>,
        change: &'a Change,
        cause: &'a Cause,
    ) -> Result<Option<Entry<'a>>, Failure> {
        let Some(audited) = action::of(change) else { return Ok(None) };
        let before = snapshot::read(transaction, &audited.target).await?;
        Ok(Some(Entry { cause, audited, before }))
    }

    /// Adds the row, once the change is made.
    pub(crate) async fn append(
        self,
        transaction: &mut Connection<'_>,
        at: Timestamp,
        keys: &KeyFile,
    ) -> Result<(), Failure> {
        let mut after = match self.audited.details {
            Some(details) => Some(details.clone()),
            None => snapshot::read(transaction, &self.audited.target).await?,
        };
        let mut before = self.before;
        keep_differences(&mut before, &mut after);
        if let Some((field, value)) = self.audited.secret {
            // The log says that a secret was replaced, never what it is.
            let fields = after.get_or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(fields) = fields {
                fields.insert(field.to_owned(), value.into());
            }
        }
        let end = head::end_of_log(transaction, keys).await?;
        let actor = &self.cause.actor;
        let mut row = AuditRow {
            number: end.number + 1,
            at,
            actor_kind: actor.kind,
            actor_id: actor.id.clone(),
            actor_name: actor.name.clone(),
            role: actor.known_role(),
            address: actor.address.map(|address| address.to_canonical().to_string()),
            via: actor.via,
            action: self.audited.action.to_owned(),
            target: self.audited.target.name(),
            before: before.map(|value| value.to_string()),
            after: after.map(|value| value.to_string()),
            reason: self.cause.reason.clone(),
            hash: String::new(),
        };
        row.hash = chain::hash(&end.hash, &row);
        insert(transaction, &row).await?;
        head::seal(transaction, &row, keys).await
    }
}

/// A role as it is stored.
fn role_word(role: Option<Role>) -> &'static str {
    role.map_or(NO_ROLE, Role::as_str)
}

/// Removes the fields that are the same before and after.
fn keep_differences(before: &mut Option<Value>, after: &mut Option<Value>) {
    if let (Some(Value::Object(before)), Some(Value::Object(after))) = (before, after) {
        let same: Vec<String> = before
            .iter()
            .filter(|(name, value)| after.get(*name) == Some(*value))
            .map(|(name, _)| name.clone())
            .collect();
        for name in same {
            before.remove(&name);
            after.remove(&name);
        }
    }
}

async fn insert(transaction: &mut Connection<'_>, row: &AuditRow) -> Result<(), sqlx::Error> {
    database::query(
        "insert into audit (number, at, actor_kind, actor_id, actor_name, role, address, via, action, target, before, after,
            reason, hash)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)",
    )
    .bind(signed(row.number))
    .bind(row.at.as_millis())
    .bind(row.actor_kind.as_str())
    .bind(&row.actor_id)
    .bind(&row.actor_name)
    .bind(role_word(row.role))
    .bind(&row.address)
    .bind(row.via.as_str())
    .bind(&row.action)
    .bind(&row.target)
    .bind(&row.before)
    .bind(&row.after)
    .bind(&row.reason)
    .bind(&row.hash)
    .execute(transaction)
    .await?;
    Ok(())
}
