//! An agent as it is remembered.

use serde::{Deserialize, Serialize};

use crate::{AgentId, Epoch, Exemption, Fingerprint, IncidentId, KillSwitch, Timestamp};

/// Who deactivated an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeactivatedBy {
    /// The kill switch, because the agent looped.
    KillSwitch,
    /// A person.
    Manual,
}

impl DeactivatedBy {
    /// The word for it in SQL, API and docs.
    pub fn as_str(self) -> &'static str {
        match self {
            DeactivatedBy::KillSwitch => "kill_switch",
            DeactivatedBy::Manual => "manual",
        }
    }

    /// Reads the word.
    pub fn parse(word: &str) -> Option<DeactivatedBy> {
        [DeactivatedBy::KillSwitch, DeactivatedBy::Manual].into_iter().find(|by| by.as_str() == word)
    }
}

/// Whence a person activated an agent, as far as it can be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActivatedBy {
    /// From a page, in a session.
    Dashboard,
    /// With the token, by a program.
    Api,
    /// With the token, by our own command line.
    CommandLine,
}

impl ActivatedBy {
    /// The word for it in SQL, API and docs.
    pub fn as_str(self) -> &'static str {
        match self {
            ActivatedBy::Dashboard => "dashboard",
            ActivatedBy::Api => "api",
            ActivatedBy::CommandLine => "command_line",
        }
    }

    /// Reads the word.
    pub fn parse(word: &str) -> Option<ActivatedBy> {
        [ActivatedBy::Dashboard, ActivatedBy::Api, ActivatedBy::CommandLine].into_iter().find(|by| by.as_str() == word)
    }
}

/// That an agent is inactive, since when, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deactivation {
    /// Who did it.
    pub by: DeactivatedBy,
    /// When.
    pub at: Timestamp,
    /// The incident of a kill.
    pub incident: Option<IncidentId>,
}

/// What is restored of an agent at start, before the first call is accepted.
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
    /// Calls numbered up to this one are out of the windows for good (see `guard`).
    pub window_floor: u64,
    /// When it was last heard of.
    pub last_seen: Option<Timestamp>,
    /// What does not count for it.
    pub exemptions: Vec<Exemption>,
    /// Its newest fingerprints of this epoch, oldest first.
    pub fingerprints: Vec<Fingerprint>,
}

impl SavedAgent {
    /// How far back an agent's windows reach, in its calls: as many of its fingerprints are
    /// restored, so that a conversation that rests while others go on has the same window before
    /// and after a restart.
    pub const RECALL: u64 = 2_000;
}
