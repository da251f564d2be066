//! The recorded calls of whole epochs, for measurements.

use model::{AgentId, Epoch};

use crate::columns;
use crate::database::{self, Row};
use crate::{Store, StoreError};

/// The calls of one agent between two activations, as they were fingerprinted.
#[derive(Clone, Debug)]
pub struct RecordedEpoch {
    /// The agent.
    pub agent: AgentId,
    /// The epoch.
    pub epoch: Epoch,
    /// The fingerprints of its scored calls as they are stored, oldest first.
    pub fingerprints: Vec<Vec<u8>>,
}

impl Store {
    /// The epochs with recorded scored calls, of one agent or of all.
    pub async fn recorded_epochs(&self, agent: Option<&AgentId>) -> Result<Vec<(AgentId, Epoch)>, StoreError> {
        let query = database::query(
            "select distinct agent_id, epoch from events
             where fingerprint is not null and ($1 is null or agent_id = $1) order by agent_id, epoch",
        );
        let rows = query.bind(agent.map(AgentId::as_str)).fetch_all(&self.readers).await?;
        let epoch = |row| Ok((columns::agent_id(&row, "agent_id")?, columns::epoch(&row)?));
        Ok(rows.into_iter().map(epoch).collect::<Result<_, sqlx::Error>>()?)
    }

    /// The calls of one of them.
    pub async fn recorded_epoch(&self, agent: AgentId, epoch: Epoch) -> Result<RecordedEpoch, StoreError> {
        let query = database::query(
            "select fingerprint from events
             where agent_id = $1 and epoch = $2 and fingerprint is not null order by number",
        );
        let query = query.bind(agent.to_string()).bind(columns::signed(epoch.0));
        let rows = query.try_map(|row: Row| row.try_get("fingerprint"));
        Ok(RecordedEpoch { agent, epoch, fingerprints: rows.fetch_all(&self.readers).await? })
    }
}
