//! The rows by which replicas on one database tell each other what has changed.

/// The kind of thing that changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
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
    /// Its name in the database.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Parses its name. `None` if a newer version wrote it.
    pub(crate) fn parse(word: &str) -> Option<ChangedKind> {
        word.parse().ok()
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
