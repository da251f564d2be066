//! Tells the other replicas on a database what has changed, so that they update their memory. A row
//! is written in the transaction of its change; each replica reads the new rows.

use crate::database::Connection;
use crate::postgres::ChangeFeed;
use crate::{AccessChange, Change, PeopleChange, Store, StoreError, postgres};
use model::ANY;

/// The kind of thing that changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ChangedKind {
    /// An agent: its state, settings or exemptions changed, or it was deleted. The key is its id.
    Agent,
    /// All agent keys.
    AgentKeys,
    /// A group of agents. The key is its name.
    Group,
    /// An incident: it was observed, got feedback, or was deleted. The key is its id.
    Incident,
    /// Users and API tokens.
    People,
    /// The policy of an agent, or of all others. The key is the agent, or `*`.
    Policy,
    /// A provider. The key is its name.
    Provider,
    /// Settings of all agents.
    Settings,
}

impl ChangedKind {
    const ALL: [ChangedKind; 8] = [
        ChangedKind::Agent,
        ChangedKind::AgentKeys,
        ChangedKind::Group,
        ChangedKind::Incident,
        ChangedKind::People,
        ChangedKind::Policy,
        ChangedKind::Provider,
        ChangedKind::Settings,
    ];

    /// Its name in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            ChangedKind::Agent => "agent",
            ChangedKind::AgentKeys => "agent_keys",
            ChangedKind::Group => "group",
            ChangedKind::Incident => "incident",
            ChangedKind::People => "people",
            ChangedKind::Policy => "policy",
            ChangedKind::Provider => "provider",
            ChangedKind::Settings => "settings",
        }
    }

    /// Parses its name. `None` if a newer version wrote it.
    pub(crate) fn parse(word: &str) -> Option<ChangedKind> {
        ChangedKind::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

/// Something that another replica changed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ChangedRow {
    /// What changed.
    pub kind: ChangedKind,
    /// The key of the changed thing.
    pub key: String,
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
pub(crate) async fn tell(connection: &mut Connection<'_>, row: &ChangedRow, store: &Store) -> Result<(), sqlx::Error> {
    match connection {
        Connection::Postgres(connection) if store.is_shared() => {
            let at = store.config.clock.now().as_millis();
            postgres::tell(connection, row, (store.writer(), at)).await
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
