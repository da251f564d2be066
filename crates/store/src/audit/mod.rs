//! The audit log: who changed what, in the transaction of the change. Rows are only added, and each
//! holds a hash of itself and of the row before it.

mod action;
mod chain;
mod read;
mod snapshot;
mod verify;

use model::{ActivatedBy, ActorKind, Cause, Role, Timestamp};
use serde_json::{Map, Value};

pub use read::AuditFilter;
pub use verify::AuditReport;

use self::action::Audited;
use crate::columns::{signed, unsigned};
use crate::database::{self, Connection};
use crate::error::Failure;
use crate::key_file::KeyFile;
use crate::{Change, StoreError};

/// Whom the head of the log is sealed for.
const HEAD: &str = "audit head";

/// One row of the audit log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditRow {
    /// Its place in the log, from 1 on without a gap.
    pub number: u64,
    /// When.
    pub at: Timestamp,
    /// How the actor showed who it was.
    pub actor_kind: ActorKind,
    /// The id of the user or of the API token.
    pub actor_id: Option<String>,
    /// The name of the user or of the API token.
    pub actor_name: String,
    /// What the actor could do.
    pub role: Role,
    /// Where the request came from.
    pub address: Option<String>,
    /// The way it came.
    pub via: ActivatedBy,
    /// What was done, like `agent.activate`.
    pub action: String,
    /// To what, like `agent:import-fixer`.
    pub target: Option<String>,
    /// The fields that changed, before, as JSON.
    pub before: Option<String>,
    /// The same fields afterwards.
    pub after: Option<String>,
    /// Why, in the actor's own words.
    pub reason: Option<String>,
    /// The hash of this row and of the one before it.
    pub hash: String,
}

/// Something that is recorded though it changes nothing in the database, like a login.
#[derive(Clone, Debug)]
pub struct AuditNote {
    /// What was done, like `session.open`.
    pub action: &'static str,
    /// To what.
    pub target: Option<String>,
}

/// A change that is being made, as it will stand in the log.
pub(crate) struct Entry<'a> {
    cause: &'a Cause,
    audited: Audited<'a>,
    before: Option<Value>,
}

impl<'a> Entry<'a> {
    /// Looks at what `change` is about, before it is made. `None` if it is the program's own.
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
        let mut after = snapshot::read(transaction, &self.audited.target).await?;
        let mut before = self.before;
        keep_differences(&mut before, &mut after);
        if let Some((field, value)) = self.audited.secret {
            // That a secret was replaced is said, what it is never.
            let fields = after.get_or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(fields) = fields {
                fields.insert(field.to_owned(), value.into());
            }
        }
        lock_head(transaction).await?;
        let last = last(transaction).await?;
        let actor = &self.cause.actor;
        let mut row = AuditRow {
            number: last.as_ref().map_or(1, |(number, _)| number + 1),
            at,
            actor_kind: actor.kind,
            actor_id: actor.id.clone(),
            actor_name: actor.name.clone(),
            role: actor.role,
            address: actor.address.map(|address| address.to_canonical().to_string()),
            via: actor.via,
            action: self.audited.action.to_owned(),
            target: self.audited.target.name(),
            before: before.map(|value| value.to_string()),
            after: after.map(|value| value.to_string()),
            reason: self.cause.reason.clone(),
            hash: String::new(),
        };
        row.hash = chain::hash(last.as_ref().map_or("", |(_, hash)| hash), &row);
        insert(transaction, &row).await?;
        seal_head(transaction, &row, keys).await
    }
}

/// Removes what is the same before and after.
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

/// Makes other servers on the same database wait until this row is written: each number is given
/// once.
async fn lock_head(transaction: &mut Connection<'_>) -> Result<(), sqlx::Error> {
    database::query("update audit_head set id = id where id = 1").execute(transaction).await.map(drop)
}

async fn last(transaction: &mut Connection<'_>) -> Result<Option<(u64, String)>, sqlx::Error> {
    let query = database::query_as("select number, hash from audit order by number desc limit 1");
    let mut last: Vec<(i64, String)> = query.fetch_all(transaction).await?;
    Ok(last.pop().map(|(number, hash)| (unsigned(number), hash)))
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
    .bind(row.role.as_str())
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

/// Seals the number and the hash of the newest row, so that rows which are cut off at the end are
/// missed.
async fn seal_head(transaction: &mut Connection<'_>, row: &AuditRow, keys: &KeyFile) -> Result<(), Failure> {
    let sealed = keys.seal(HEAD, &format!("{} {}", row.number, row.hash).into())?;
    database::query(
        "insert into audit_head (id, ciphertext, key_id) values (1, $1, $2)
         on conflict (id) do update set ciphertext = excluded.ciphertext, key_id = excluded.key_id",
    )
    .bind(sealed.ciphertext)
    .bind(sealed.key_id)
    .execute(transaction)
    .await?;
    Ok(())
}

/// The number and the hash of the newest row, as they were sealed.
fn open_head(keys: &KeyFile, sealed: &crate::key_file::Sealed) -> Result<Option<(u64, String)>, StoreError> {
    let text = keys.open_sealed(HEAD, sealed)?;
    let text = secrecy::ExposeSecret::expose_secret(&text);
    Ok(text.split_once(' ').and_then(|(number, hash)| Some((number.parse().ok()?, hash.to_owned()))))
}
