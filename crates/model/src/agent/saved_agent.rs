//! An agent as it is stored.

use serde::{Deserialize, Serialize};

use crate::{AgentId, Epoch, Exemption, Fingerprint, IncidentId, KillSwitch, Timestamp};

/// Who deactivated an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::EnumString, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum DeactivatedBy {
    /// The kill switch, because the agent looped.
    KillSwitch,
    /// A person.
    Manual,
}

impl DeactivatedBy {
    /// Its name in SQL, API and docs.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Parses its name.
    pub fn parse(word: &str) -> Option<DeactivatedBy> {
        word.parse().ok()
    }
}

/// The interface through which a person activated an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::EnumString, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum ActivatedBy {
    /// A page, in a session.
    Dashboard,
    /// The API, by a program with a token.
    Api,
    /// The `agentgazer` command line.
    CommandLine,
}

impl ActivatedBy {
    /// Its name in SQL, API and docs.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Parses its name.
    pub fn parse(word: &str) -> Option<ActivatedBy> {
        word.parse().ok()
    }
}

/// Why and since when an agent is inactive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deactivation {
    /// Who did it.
    pub by: DeactivatedBy,
    /// When.
    pub at: Timestamp,
    /// The incident of a kill.
    pub incident: Option<IncidentId>,
}

/// The state of an agent that is restored at start, before the first call is accepted.
#[derive(Clone, Debug)]
pub struct SavedAgent {
    /// Its name.
    pub id: AgentId,
    /// Why it is inactive, if it is.
    pub deactivation: Option<Deactivation>,
    /// Its current epoch.
    pub epoch: Epoch,
    /// Its settings.
    pub kill_switch: KillSwitch,
    /// Calls numbered up to this one have left the windows for good (see `guard`).
    pub window_floor: u64,
    /// When it was last seen.
    pub last_seen: Option<Timestamp>,
    /// Its exemptions.
    pub exemptions: Vec<Exemption>,
    /// Its newest fingerprints of this epoch, oldest first.
    pub fingerprints: Vec<Fingerprint>,
}

impl SavedAgent {
    /// How far back an agent's windows reach, in calls. This many fingerprints are restored, so
    /// that a conversation that pauses while others continue has the same window before and after a
    /// restart.
    pub const RECALL: u64 = 2_000;
}
