//! The rows by which replicas on one database tell each other what has changed.

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
