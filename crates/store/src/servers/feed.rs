//! Tells the other replicas on a database what has changed, so that they update their memory. A row
//! is written in the transaction of its change; each replica reads the new rows.

use crate::database::{Connection, Pool};
use crate::postgres::{ChangeFeed, in_time};
use crate::{AccessChange, Change, ChangedKind, ChangedRow, PeopleChange, Store, StoreError, postgres};
use model::ANY;

/// Differs after every change of users and tokens by another replica.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PeopleVersion {
    count: i64,
    newest: i64,
}

impl Store {
    /// The changes that other replicas make from now on; `None` if the database is not shared. Call
    /// it before memory is filled, so that no change is missed in between.
    pub async fn change_feed(&self) -> Result<Option<ChangeFeed>, StoreError> {
        match &self.config.postgres {
            Some(server) if self.is_shared() => Ok(Some(ChangeFeed::open(server, self.writer()).await?)),
            _ => Ok(None),
        }
    }

    /// The version of users and tokens as far as other replicas have changed them; `None` if the
    /// database is not shared.
    pub async fn people_version(&self) -> Result<Option<PeopleVersion>, StoreError> {
        let Pool::Postgres(pool) = &self.readers else { return Ok(None) };
        if !self.is_shared() {
            return Ok(None);
        }
        // The count, too: ids are assigned before the commit, so a lower one may appear later.
        let query = "select count(*), coalesce(max(id), 0) from changes where kind = $1 and replica <> $2";
        let query = sqlx::query_as(query).bind(ChangedKind::People.as_str()).bind(self.writer().to_owned());
        let (count, newest) = in_time(query.fetch_one(pool)).await?;
        Ok(Some(PeopleVersion { count, newest }))
    }

    /// Reads again what people have set for all agents.
    pub async fn reload_settings(&self) -> Result<(), StoreError> {
        self.settings.reload(&self.readers, self.config.settings()).await
    }

    /// Reads the groups again, and returns the names of groups that were deleted.
    pub async fn reload_groups(&self) -> Result<Vec<String>, StoreError> {
        let stored = crate::read::groups::read_groups(&self.readers).await?;
        let known = self.groups.all();
        let gone = known.iter().filter(|group| !stored.iter().any(|it| it.name == group.name));
        let gone: Vec<String> = gone.map(|group| group.name.clone()).collect();
        gone.iter().for_each(|name| self.groups.remove(name));
        for group in stored {
            let (name, stopped_at) = (group.name.clone(), group.stopped_at);
            self.groups.put(group);
            self.groups.set_stopped(&name, stopped_at);
        }
        Ok(gone)
    }
}

/// Tells other replicas of a change, in its transaction.
pub(crate) async fn announce(
    connection: &mut Connection<'_>,
    row: &ChangedRow,
    store: &Store,
) -> Result<(), sqlx::Error> {
    match connection {
        Connection::Postgres(connection) if store.is_shared() => {
            let at = store.config.clock.now().as_millis();
            postgres::announce(connection, row, (store.writer(), at)).await
        }
        _ => Ok(()),
    }
}

/// The row that tells other replicas what to read again after `change`; `None` if none of it is in
/// memory.
pub(crate) fn changed_row(change: &Change) -> Option<ChangedRow> {
    let row = |kind: ChangedKind, key: &str| Some(ChangedRow { kind, key: key.to_owned() });
    match change {
        Change::Configure { agent, .. }
        | Change::Activate { agent, .. }
        | Change::Deactivate { agent, .. }
        | Change::Rename { agent, .. }
        | Change::DeleteAgent { agent }
        | Change::RemoveExemption { agent, .. } => row(ChangedKind::Agent, agent.as_str()),
        Change::AddExemption { row: added } => row(ChangedKind::Agent, added.agent.as_str()),
        Change::SetPolicy { agent, .. } | Change::ResetPolicy { agent } => row(ChangedKind::Policy, agent.as_str()),
        Change::SetDefaultPolicy { .. } => row(ChangedKind::Policy, ANY),
        Change::PutProvider { provider } => row(ChangedKind::Provider, &provider.name),
        Change::RemoveProvider { name } => row(ChangedKind::Provider, name),
        Change::SetFeedback { incident, .. } | Change::DeleteIncident { incident } => {
            row(ChangedKind::Incident, &incident.to_string())
        }
        Change::Access(AccessChange::AddKey { .. } | AccessChange::RemoveKey { .. }) => row(ChangedKind::AgentKeys, ""),
        Change::Access(AccessChange::PutGroup { group }) => row(ChangedKind::Group, &group.name),
        Change::Access(AccessChange::SetLabels { agent, .. }) => row(ChangedKind::Agent, agent.as_str()),
        Change::Access(
            AccessChange::RemoveGroup { name }
            | AccessChange::StopGroup { name, .. }
            | AccessChange::ActivateGroup { name },
        ) => row(ChangedKind::Group, name),
        Change::PutSettings { .. } => row(ChangedKind::Settings, ""),
        Change::People(PeopleChange::TokenUsed { .. } | PeopleChange::LoggedIn { .. }) => None,
        Change::People(_) => row(ChangedKind::People, ""),
        // Replicas read these from the database whenever they use them.
        Change::Access(AccessChange::NoteKeyUses { .. })
        | Change::PutSmtpServer { .. }
        | Change::SetRecording { .. }
        | Change::Alerts(_)
        | Change::Note(_) => None,
    }
}
