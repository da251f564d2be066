//! Exemptions: prompts and tool calls that do not count for an agent until a time.

use std::collections::HashMap;

use model::{AgentId, Exempt, ExemptKind, Exemption, ExemptionId, IncidentId, TextHash, Timestamp};

use crate::columns::{self, invalid};
use crate::database::{self, Connection, Row};
use crate::{Store, StoreError};

/// One exemption.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExemptionRow {
    /// What does not count, and until when.
    pub exemption: Exemption,
    /// The agent.
    pub agent: AgentId,
    /// The beginning of the prompt or of the tool calls.
    pub text: String,
    /// The false alarm that it was made for.
    pub incident: Option<IncidentId>,
    /// When it was made.
    pub created_at: Timestamp,
}

impl Store {
    /// The exemptions of an agent that hold at `now`, oldest first.
    pub async fn exemptions(&self, agent: &AgentId, now: Timestamp) -> Result<Vec<ExemptionRow>, StoreError> {
        let query = database::query("select * from exemptions where agent_id = $1 and until > $2 order by id");
        let query = query.bind(agent.as_str()).bind(now.as_millis());
        Ok(query.try_map(exemption_row).fetch_all(&self.readers).await?)
    }
}

/// The exemptions that hold at `now`, by agent.
pub(crate) async fn in_force(
    connection: &mut Connection<'_>,
    now: Timestamp,
) -> Result<HashMap<AgentId, Vec<Exemption>>, sqlx::Error> {
    let query = database::query("select * from exemptions where until > $1 order by id").bind(now.as_millis());
    let mut by_agent: HashMap<AgentId, Vec<Exemption>> = HashMap::new();
    for row in query.try_map(exemption_row).fetch_all(connection).await? {
        by_agent.entry(row.agent).or_default().push(row.exemption);
    }
    Ok(by_agent)
}

fn exemption_row(row: Row) -> Result<ExemptionRow, sqlx::Error> {
    let hash = |column: &'static str| row.try_get::<i64, _>(column).map(i64::cast_unsigned);
    let exempt = match ExemptKind::parse(row.try_get("kind")?).ok_or_else(|| invalid("kind"))? {
        ExemptKind::Prompt => Exempt::Prompt(TextHash(hash("prompt_hash")?)),
        ExemptKind::ToolCall => {
            Exempt::ToolCall { literal: hash("literal_signature")?, adaptive: hash("adaptive_signature")? }
        }
    };
    let id = ExemptionId::parse(row.try_get("id")?).ok_or_else(|| invalid("id"))?;
    Ok(ExemptionRow {
        exemption: Exemption { id, exempt, until: columns::timestamp(&row, "until")? },
        agent: columns::agent_id(&row, "agent_id")?,
        text: row.try_get("text")?,
        incident: columns::incident_id(&row, "incident_id")?,
        created_at: columns::timestamp(&row, "created_at")?,
    })
}
