//! Incidents and their evidence as they are stored.

use model::{AgentId, CallId, Evidence, IncidentId, IncidentState, KillSwitch, Score, Timestamp};
use sqlx::sqlite::SqliteRow;
use sqlx::{QueryBuilder, Row, Sqlite};

use crate::columns::{self, odd, unsigned};
use crate::figures::first_id;
use crate::{Feedback, Page, PageRequest, Store, StoreError, evidence};

/// One incident.
#[derive(Clone, Debug)]
pub struct IncidentRow {
    /// Its id.
    pub id: IncidentId,
    /// The agent.
    pub agent: AgentId,
    /// When.
    pub at: Timestamp,
    /// The provider of the call that triggered it.
    pub provider: String,
    /// The model of that call.
    pub model: Option<String>,
    /// The conversation of that call.
    pub conversation: Option<String>,
    /// The score.
    pub score: Score,
    /// The settings at that moment.
    pub kill_switch: KillSwitch,
    /// What it is at the moment.
    pub state: IncidentState,
    /// When the agent was activated again.
    pub closed_at: Option<Timestamp>,
    /// What a person said of it.
    pub feedback: Option<Feedback>,
    /// How many calls the evidence holds.
    pub evidence_count: u64,
}

/// Which incidents.
#[derive(Clone, Debug, Default)]
pub struct IncidentFilter {
    /// Of this agent.
    pub agent: Option<AgentId>,
    /// In this state.
    pub state: Option<IncidentState>,
}

/// One call of the evidence, bodies unpacked.
#[derive(Clone, Debug)]
pub struct EvidenceRow {
    /// The call.
    pub evidence: Evidence,
    /// Characters of the request body.
    pub request_chars: u64,
    /// Characters of the response body.
    pub response_chars: u64,
}

impl Store {
    /// A page of incidents, newest first.
    pub async fn incidents(
        &self,
        filter: &IncidentFilter,
        page: &PageRequest,
    ) -> Result<Page<IncidentRow>, StoreError> {
        let mut query = QueryBuilder::<Sqlite>::new("select * from incidents where true");
        if let Some(agent) = &filter.agent {
            query.push(" and agent_id = ").push_bind(agent.to_string());
        }
        if let Some(state) = filter.state {
            query.push(" and state = ").push_bind(state.as_str());
        }
        if let Some(after) = page.after()? {
            query.push(" and id < ").push_bind(after);
        }
        query.push(" order by id desc limit ").push_bind(page.rows());
        let rows = query.build().try_map(incident_row).fetch_all(&self.readers).await?;
        Ok(Page::of(rows, page, |incident| incident.id.to_string()))
    }

    /// How many incidents there were from `from` until before `to`.
    pub async fn incident_count(&self, from: Timestamp, to: Timestamp) -> Result<u64, StoreError> {
        // Ids sort by time, so this looks at no others.
        let query = sqlx::query_scalar("select count(*) from incidents where id >= $1 and id < $2");
        let count: i64 = query.bind(first_id(from)).bind(first_id(to)).fetch_one(&self.readers).await?;
        Ok(unsigned(count))
    }

    /// One incident.
    pub async fn incident(&self, id: IncidentId) -> Result<Option<IncidentRow>, StoreError> {
        let query = sqlx::query("select * from incidents where id = $1").bind(id.to_string());
        Ok(query.try_map(incident_row).fetch_optional(&self.readers).await?)
    }

    /// Its evidence, oldest first.
    pub async fn evidence(&self, id: IncidentId) -> Result<Vec<EvidenceRow>, StoreError> {
        let query = sqlx::query("select * from evidence where incident_id = $1 order by position").bind(id.to_string());
        Ok(query.try_map(evidence_row).fetch_all(&self.readers).await?)
    }
}

fn incident_row(row: SqliteRow) -> Result<IncidentRow, sqlx::Error> {
    let feedback: Option<&str> = row.try_get("feedback")?;
    Ok(IncidentRow {
        id: columns::incident_id(&row, "id")?.ok_or_else(|| odd("id"))?,
        agent: columns::agent_id(&row, "agent_id")?,
        at: columns::timestamp(&row, "timestamp")?,
        provider: row.try_get("provider")?,
        model: row.try_get("model")?,
        conversation: row.try_get("conversation")?,
        score: columns::score(&row)?.unwrap_or_default(),
        kill_switch: columns::kill_switch(&row)?,
        state: IncidentState::parse(row.try_get("state")?).ok_or_else(|| odd("state"))?,
        closed_at: columns::maybe_timestamp(&row, "closed_at")?,
        feedback: feedback.and_then(Feedback::parse),
        evidence_count: row.try_get("evidence_count").map(unsigned)?,
    })
}

fn evidence_row(row: SqliteRow) -> Result<EvidenceRow, sqlx::Error> {
    let body = |column| -> Result<Option<Vec<u8>>, sqlx::Error> {
        row.try_get::<Option<&[u8]>, _>(column)?
            .map(|packed| evidence::unpack(packed).ok_or_else(|| odd(column)))
            .transpose()
    };
    let evidence = Evidence {
        call: CallId::parse(row.try_get("call_id")?).ok_or_else(|| odd("call_id"))?,
        time: columns::maybe_timestamp(&row, "timestamp")?,
        matched: serde_json::from_str(row.try_get("matched")?).unwrap_or_default(),
        prompt: row.try_get("prompt")?,
        response: row.try_get("response")?,
        request_body: body("request_body")?,
        response_body: body("response_body")?,
        truncated: row.try_get("truncated")?,
    };
    let chars = |column| row.try_get(column).map(unsigned);
    Ok(EvidenceRow { evidence, request_chars: chars("request_chars")?, response_chars: chars("response_chars")? })
}
