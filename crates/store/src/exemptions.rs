//! What does not count for an agent, as it is stored: made from a false alarm, listed, revoked, and gone when it is over.

use std::collections::HashMap;

use model::{AgentId, Exempt, ExemptKind, Exemption, ExemptionId, IncidentId, TextHash, Timestamp};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::columns::{self, odd};
use crate::writer::Failure;
use crate::{Store, StoreError};

/// One exemption, and what people want to know of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExemptionRow {
    /// What does not count, and until when.
    pub exemption: Exemption,
    /// For whom.
    pub agent: AgentId,
    /// The beginning of the prompt or of the tool calls.
    pub text: String,
    /// The false alarm that it was made for.
    pub incident: Option<IncidentId>,
    /// When it was made.
    pub created_at: Timestamp,
}

impl Store {
    /// What does not count for an agent at `now`, oldest first.
    pub async fn exemptions(&self, agent: &AgentId, now: Timestamp) -> Result<Vec<ExemptionRow>, StoreError> {
        let query = sqlx::query("select * from exemptions where agent_id = $1 and until > $2 order by id");
        let query = query.bind(agent.as_str()).bind(now.as_millis());
        Ok(query.try_map(exemption_row).fetch_all(&self.readers).await?)
    }
}

/// What does not count at `now`, for whom.
pub(crate) async fn in_force(
    connection: &mut SqliteConnection,
    now: Timestamp,
) -> Result<HashMap<AgentId, Vec<Exemption>>, sqlx::Error> {
    let query = sqlx::query("select * from exemptions where until > $1 order by id").bind(now.as_millis());
    let mut by_agent: HashMap<AgentId, Vec<Exemption>> = HashMap::new();
    for row in query.try_map(exemption_row).fetch_all(connection).await? {
        by_agent.entry(row.agent).or_default().push(row.exemption);
    }
    Ok(by_agent)
}

/// Adds one. What is exempt already gets the new time, and is there once.
pub(crate) async fn add(transaction: &mut SqliteConnection, row: &ExemptionRow) -> Result<(), Failure> {
    let known: Option<i64> = sqlx::query_scalar("select 1 from agents where id = $1")
        .bind(row.agent.as_str())
        .fetch_optional(&mut *transaction)
        .await?;
    if known.is_none() {
        return Err(StoreError::NotFound.into());
    }
    remove_same(transaction, row).await?;
    let query = sqlx::query_scalar("select count(*) from exemptions where agent_id = $1 and until > $2");
    let query = query.bind(row.agent.as_str()).bind(row.created_at.as_millis());
    let count: i64 = query.fetch_one(&mut *transaction).await?;
    if columns::unsigned(count) >= Exemption::MOST as u64 {
        let most = Exemption::MOST;
        let why = format!("{} has {most} exemptions, and there can be no more: revoke one first", row.agent);
        return Err(StoreError::Conflict(why).into());
    }
    insert(transaction, row).await?;
    Ok(())
}

async fn remove_same(transaction: &mut SqliteConnection, row: &ExemptionRow) -> Result<(), sqlx::Error> {
    let (prompt, literal, adaptive) = hashes(row.exemption.exempt);
    sqlx::query(
        "delete from exemptions where agent_id = $1 and kind = $2 and coalesce(prompt_hash, 0) = $3
            and coalesce(literal_signature, 0) = $4 and coalesce(adaptive_signature, 0) = $5",
    )
    .bind(row.agent.as_str())
    .bind(row.exemption.exempt.kind().as_str())
    .bind(prompt.unwrap_or_default())
    .bind(literal.unwrap_or_default())
    .bind(adaptive.unwrap_or_default())
    .execute(transaction)
    .await
    .map(drop)
}

async fn insert(transaction: &mut SqliteConnection, row: &ExemptionRow) -> Result<(), sqlx::Error> {
    let (prompt, literal, adaptive) = hashes(row.exemption.exempt);
    sqlx::query(
        "insert into exemptions (id, agent_id, kind, prompt_hash, literal_signature, adaptive_signature, text, incident_id,
            created_at, until)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
    )
    .bind(row.exemption.id.to_string())
    .bind(row.agent.as_str())
    .bind(row.exemption.exempt.kind().as_str())
    .bind(prompt)
    .bind(literal)
    .bind(adaptive)
    .bind(&row.text)
    .bind(row.incident.map(|incident| incident.to_string()))
    .bind(row.created_at.as_millis())
    .bind(row.exemption.until.as_millis())
    .execute(transaction)
    .await
    .map(drop)
}

/// Revokes one; `false` if the agent has none with this id.
pub(crate) async fn remove(
    transaction: &mut SqliteConnection,
    agent: &AgentId,
    id: ExemptionId,
) -> Result<bool, sqlx::Error> {
    let query = sqlx::query("delete from exemptions where id = $1 and agent_id = $2");
    let query = query.bind(id.to_string()).bind(agent.as_str());
    Ok(query.execute(transaction).await?.rows_affected() == 1)
}

/// Deletes up to `rows` of those that are over at `now`, and says whether there were any.
pub(crate) async fn sweep(transaction: &mut SqliteConnection, now: Timestamp, rows: i64) -> Result<bool, sqlx::Error> {
    let query = sqlx::query(
        "delete from exemptions where id in (select id from exemptions where until <= $1 order by until limit $2)",
    );
    Ok(query.bind(now.as_millis()).bind(rows).execute(transaction).await?.rows_affected() > 0)
}

/// The columns of what is exempt: of a prompt, its hash; of tool calls, both signatures.
fn hashes(exempt: Exempt) -> (Option<i64>, Option<i64>, Option<i64>) {
    match exempt {
        Exempt::Prompt(TextHash(hash)) => (Some(hash.cast_signed()), None, None),
        Exempt::ToolCall { literal, adaptive } => (None, Some(literal.cast_signed()), Some(adaptive.cast_signed())),
    }
}

fn exemption_row(row: SqliteRow) -> Result<ExemptionRow, sqlx::Error> {
    let hash = |column: &'static str| row.try_get::<i64, _>(column).map(i64::cast_unsigned);
    let exempt = match ExemptKind::parse(row.try_get("kind")?).ok_or_else(|| odd("kind"))? {
        ExemptKind::Prompt => Exempt::Prompt(TextHash(hash("prompt_hash")?)),
        ExemptKind::ToolCall => {
            Exempt::ToolCall { literal: hash("literal_signature")?, adaptive: hash("adaptive_signature")? }
        }
    };
    let id = ExemptionId::parse(row.try_get("id")?).ok_or_else(|| odd("id"))?;
    Ok(ExemptionRow {
        exemption: Exemption { id, exempt, until: columns::timestamp(&row, "until")? },
        agent: columns::agent_id(&row, "agent_id")?,
        text: row.try_get("text")?,
        incident: columns::incident_id(&row, "incident_id")?,
        created_at: columns::timestamp(&row, "created_at")?,
    })
}
