//! An agent that may not be stored yet.

use model::{AgentId, Epoch, KillSwitch, Timestamp};

use crate::columns::signed;
use crate::database::{self, Connection};

/// An agent as it is when it is first stored.
pub(super) struct NewAgent<'a> {
    pub(super) id: &'a AgentId,
    pub(super) epoch: Epoch,
    pub(super) kill_switch: &'a KillSwitch,
    pub(super) at: Timestamp,
}

impl<'a> NewAgent<'a> {
    /// An agent that may not have called yet.
    pub(super) fn first_seen(id: &'a AgentId, kill_switch: &'a KillSwitch, at: Timestamp) -> NewAgent<'a> {
        NewAgent { id, epoch: Epoch::default(), kill_switch, at }
    }

    /// Stores it, unless it is stored already.
    pub(super) async fn insert(&self, transaction: &mut Connection<'_>) -> Result<(), sqlx::Error> {
        database::query(
            "insert into agents (id, epoch, enabled, window_size, threshold, action, counting, created_at)
             values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (id) do nothing",
        )
        .bind(self.id.as_str())
        .bind(signed(self.epoch.0))
        .bind(self.kill_switch.enabled)
        .bind(self.kill_switch.window_size)
        .bind(self.kill_switch.threshold)
        .bind(self.kill_switch.action.as_str())
        .bind(self.kill_switch.counting.as_str())
        .bind(self.at.as_millis())
        .execute(transaction)
        .await
        .map(drop)
    }
}
