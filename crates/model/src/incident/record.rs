//! Scores, kills, incidents and their evidence.

use serde::{Deserialize, Serialize};

use crate::{AgentId, CallId, Epoch, Fingerprint, IncidentId, KillSwitch, Score, Stuck, Timestamp};

/// Why a call is part of the evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Matched {
    /// Its prompt is similar to the trigger's.
    Prompt,
    /// Its response is similar to the newest one (or is the newest one).
    Response,
    /// Its tool calls are the trigger's.
    ToolCall,
    /// It is the call that was refused.
    Trigger,
    /// It failed and is in the window.
    Failed,
}

/// The likeness of a call to a later one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Likeness {
    /// The signal that found it.
    pub by: Matched,
    /// The later call: the one that was stopped, or the one with the newest response.
    pub with: CallId,
    /// The number of bits in which the hashes differ; `None` for tool calls, which are equal or
    /// not.
    pub distance: Option<u32>,
}

/// A call that contributed to the score, or that is next to such a call in the window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchedCall {
    /// The call.
    pub call: CallId,
    /// Why it is included.
    pub matched: Vec<Matched>,
    /// Its likeness to other calls.
    pub alike: Vec<Likeness>,
}

/// A score above the threshold, found by `guard`, that becomes an incident.
#[derive(Clone, Debug, PartialEq)]
pub struct Kill {
    /// The id of the incident.
    pub incident: IncidentId,
    /// The agent.
    pub agent: AgentId,
    /// The epoch that ends with it.
    pub epoch: Epoch,
    /// When it happened.
    pub at: Timestamp,
    /// The score.
    pub score: Score,
    /// The settings at that moment.
    pub kill_switch: KillSwitch,
    /// The calls that contributed to the score and why, oldest first; the trigger last.
    pub matches: Vec<MatchedCall>,
    /// The part of the window without progress.
    pub stuck: Stuck,
    /// The window that gave the score, oldest first; the trigger last.
    pub window: Vec<Fingerprint>,
}

/// The state of an incident.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::EnumString, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum IncidentState {
    /// The agent is inactive because of it.
    Open,
    /// The agent was activated again.
    Closed,
    /// The agent was only observed.
    Observed,
}

impl IncidentState {
    /// Its name in SQL, API and docs.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Parses its name.
    pub fn parse(word: &str) -> Option<IncidentState> {
        word.parse().ok()
    }
}

/// The record of one kill (or of one observed episode) with its evidence, as it is stored.
#[derive(Clone, Debug)]
pub struct Incident {
    /// What the guard found.
    pub kill: Kill,
    /// `Open` for a kill, `Observed` for action `observe`.
    pub state: IncidentState,
    /// The provider of the trigger.
    pub provider: String,
    /// The model of the trigger.
    pub model: Option<String>,
    /// The conversation of the trigger, as the client or the first message names it.
    pub conversation: Option<String>,
    /// The evidence, oldest first.
    pub evidence: Vec<Evidence>,
}

/// The bodies of one call that contributed to the score.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The call.
    pub call: CallId,
    /// When it came; `None` if only its fingerprint is known.
    pub time: Option<Timestamp>,
    /// Why it is included.
    pub matched: Vec<Matched>,
    /// Its likeness to other calls.
    pub alike: Vec<Likeness>,
    /// The text of its prompt.
    pub prompt: Option<String>,
    /// The tool calls whose results it reports, one per line.
    pub tool_calls: Option<String>,
    /// The results of those tool calls, one after the other.
    pub tool_results: Option<String>,
    /// The text of its response.
    pub response: Option<String>,
    /// The request body; `None` if it was no longer in memory.
    pub request_body: Option<Vec<u8>>,
    /// The response body; `None` if there was none or it was no longer in memory.
    pub response_body: Option<Vec<u8>>,
    /// Whether a body is missing or cut.
    pub truncated: bool,
    /// Why its bodies are missing, if they are.
    pub missing: Option<MissingBodies>,
}

/// Why the bodies of a call were missing when it became evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::EnumString, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum MissingBodies {
    /// It came before the server was started, and its bodies were only in memory.
    Restart,
    /// They did not fit into the memory for evidence, or into one incident.
    Budget,
}

impl MissingBodies {
    /// Its name in SQL, API and docs.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Parses its name.
    pub fn parse(word: &str) -> Option<MissingBodies> {
        word.parse().ok()
    }
}
