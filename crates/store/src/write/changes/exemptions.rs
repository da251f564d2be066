//! Changes of exemptions.

use model::{AgentId, Exempt, Exemption, ExemptionId, TextHash, Timestamp};

use crate::columns;
use crate::database::{self, Connection};
use crate::error::Failure;
use crate::{ExemptionRow, StoreError};

/// Adds an exemption, or replaces the one for the same prompt or tool call.
pub(in crate::write) async fn add(transaction: &mut Connection<'_>, row: &ExemptionRow) -> Result<(), Failure> {
    let known: Option<i64> = database::query_scalar("select 1 from agents where id = $1")
        .bind(row.agent.as_str())
        .fetch_optional(&mut *transaction)
        .await?;
    if known.is_none() {
        return Err(StoreError::NotFound.into());
    }
    remove_same(transaction, row).await?;
    let query = database::query_scalar("select count(*) from exemptions where agent_id = $1 and until > $2");
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

async fn remove_same(transaction: &mut Connection<'_>, row: &ExemptionRow) -> Result<(), sqlx::Error> {
    let (prompt, literal, adaptive) = hashes(row.exemption.exempt);
    database::query(
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

async fn insert(transaction: &mut Connection<'_>, row: &ExemptionRow) -> Result<(), sqlx::Error> {
    let (prompt, literal, adaptive) = hashes(row.exemption.exempt);
    database::query(
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

/// Revokes an exemption; `false` if the agent has none with this id.
pub(in crate::write) async fn remove(
    transaction: &mut Connection<'_>,
    agent: &AgentId,
    id: ExemptionId,
) -> Result<bool, sqlx::Error> {
    let query = database::query("delete from exemptions where id = $1 and agent_id = $2");
    let query = query.bind(id.to_string()).bind(agent.as_str());
    Ok(query.execute(transaction).await?.rows_affected() == 1)
}

/// Deletes up to `rows` exemptions that ended before `now`, and says whether there were any.
pub(in crate::write) async fn sweep(
    transaction: &mut Connection<'_>,
    now: Timestamp,
    rows: i64,
) -> Result<bool, sqlx::Error> {
    let query = database::query(
        "delete from exemptions where id in (select id from exemptions where until <= $1 order by until limit $2)",
    );
    Ok(query.bind(now.as_millis()).bind(rows).execute(transaction).await?.rows_affected() > 0)
}

/// The columns: for a prompt its hash, for tool calls both signatures.
fn hashes(exempt: Exempt) -> (Option<i64>, Option<i64>, Option<i64>) {
    match exempt {
        Exempt::Prompt(TextHash(hash)) => (Some(hash.cast_signed()), None, None),
        Exempt::ToolCall { literal, adaptive } => (None, Some(literal.cast_signed()), Some(adaptive.cast_signed())),
    }
}
