//! The calls of a window as it was, read back from the events.

use model::{AgentId, BlockReason, CallId, Fingerprint, Score, Timestamp, WindowKind};

use crate::columns::{self, invalid, unsigned};
use crate::database::{self, Row, dialect};
use crate::{Store, StoreError};
use model::fingerprint_bytes as fingerprint;

/// One call of a window.
#[derive(Clone, Debug)]
pub struct WindowCall {
    /// The call.
    pub call: CallId,
    /// When it came.
    pub time: Timestamp,
    /// Its own score.
    pub score: Option<Score>,
}

impl Store {
    /// The window of `size` calls that ended with `last`, oldest first. Empty if the call is no
    /// longer kept.
    pub async fn window(&self, last: CallId, kind: WindowKind, size: u16) -> Result<Vec<WindowCall>, StoreError> {
        let query = database::query(
            "select events.id, events.timestamp, events.score, events.similar_prompts, events.similar_responses,
                    events.repeated_tool_calls, events.score_window
             from (select agent_id, epoch, number, conversation from events where id = $1) as last
             cross join events
             where events.agent_id = last.agent_id and events.epoch = last.epoch and events.fingerprint is not null
               and events.number <= last.number and ($2 = 'agent' or events.conversation = last.conversation)
             order by events.number desc limit $3",
        );
        let query = query.bind(last.to_string()).bind(kind.as_str()).bind(size);
        let mut calls = query.try_map(window_call).fetch_all(&self.readers).await?;
        calls.reverse();
        Ok(calls)
    }

    /// The newest `limit` fingerprints of an agent's current epoch, oldest first.
    pub async fn fingerprints(&self, agent: &AgentId, limit: u32) -> Result<Vec<Fingerprint>, StoreError> {
        let query = database::query(
            "select fingerprint from events
             where agent_id = $1 and epoch = (select epoch from agents where id = $1) and fingerprint is not null
             order by number desc limit $2",
        );
        let query = query.bind(agent.as_str()).bind(limit);
        let rows = query.try_map(|row: Row| Ok(fingerprint::decode(row.try_get("fingerprint")?)));
        let mut prints: Vec<_> = rows.fetch_all(&self.readers).await?.into_iter().flatten().collect();
        prints.reverse();
        Ok(prints)
    }

    /// The newest `limit` fingerprints of an agent, whatever their epoch, newest first.
    pub async fn newest_fingerprints(&self, agent: &AgentId, limit: u32) -> Result<Vec<Fingerprint>, StoreError> {
        let query = database::query(
            "select fingerprint from events where agent_id = $1 and fingerprint is not null order by id desc limit $2",
        );
        let query = query.bind(agent.as_str()).bind(limit);
        let rows = query.try_map(|row: Row| Ok(fingerprint::decode(row.try_get("fingerprint")?)));
        Ok(rows.fetch_all(&self.readers).await?.into_iter().flatten().collect())
    }

    /// How many calls were refused since the agent became inactive.
    pub async fn refused(&self, agent: &AgentId) -> Result<u64, StoreError> {
        let count: i64 = database::query_scalar(concat!(
            "select ",
            dialect::sum!("count"),
            " from events
             where agent_id = $1 and epoch = (select epoch from agents where id = $1) and minute is not null
               and block_reason = $2",
        ))
        .bind(agent.as_str())
        .bind(BlockReason::Inactive.as_str())
        .fetch_one(&self.readers)
        .await?;
        Ok(unsigned(count))
    }
}

fn window_call(row: Row) -> Result<WindowCall, sqlx::Error> {
    Ok(WindowCall {
        call: CallId::parse(row.try_get("id")?).ok_or_else(|| invalid("id"))?,
        time: columns::timestamp(&row, "timestamp")?,
        score: columns::score(&row)?,
    })
}
