//! The guard's input for a call, and its decision.

use model::{
    AgentId, Asked, CallId, ConversationId, Deactivation, Epoch, Fingerprint, Kill, KillSwitch, Score, Timestamp,
};
use twox_hash::XxHash3_64;

use crate::fingerprint::{self, RequestPrint};

/// A call as it arrives.
#[derive(Clone, Copy, Debug)]
pub struct NewCall<'a> {
    /// Its agent.
    pub agent: &'a AgentId,
    /// Its id.
    pub call: CallId,
    /// The name of its conversation, which distinguishes it from the agent's others.
    pub conversation: &'a str,
    /// The request's bytes.
    pub body: &'a [u8],
    /// The request that was read from them.
    pub asked: &'a Asked<'a>,
}

impl<'a> NewCall<'a> {
    /// Makes the call's fingerprint: the slow part of judging a call, done without a lock.
    pub fn prepare(&self) -> PreparedCall<'a> {
        let prompt = fingerprint::of_prompt(self.asked);
        let print = fingerprint::of_request(self.conversation, XxHash3_64::oneshot(self.body), self.asked, prompt);
        PreparedCall { agent: self.agent, call: self.call, print }
    }
}

/// A call whose fingerprint has been made.
#[derive(Clone, Copy, Debug)]
pub struct PreparedCall<'a> {
    pub(crate) agent: &'a AgentId,
    pub(crate) call: CallId,
    pub(crate) print: RequestPrint,
}

impl PreparedCall<'_> {
    /// The same call with its agent borrowed from elsewhere.
    pub fn of_agent<'a>(self, agent: &'a AgentId) -> PreparedCall<'a> {
        PreparedCall { agent, call: self.call, print: self.print }
    }
}

/// What to do with a call.
#[derive(Clone, Debug)]
pub enum Decision {
    /// Refuse it: the agent is inactive.
    Inactive(Deactivation),
    /// It was recorded and scored.
    Scored(Box<Scored>),
}

/// A call that was recorded and scored.
#[derive(Clone, Debug)]
pub struct Scored {
    /// Hand this back with the response.
    pub ticket: Ticket,
    /// The call's fingerprint.
    pub fingerprint: Fingerprint,
    /// Its score.
    pub score: Score,
    /// The settings it was judged by.
    pub kill_switch: KillSwitch,
    /// What to do.
    pub verdict: Verdict,
    /// Calls that have left all windows of this agent since its last call, or whose agent was
    /// forgotten: their bodies are no longer needed.
    pub released: Vec<CallId>,
}

/// What to do with a scored call.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// Forward it.
    Pass,
    /// Forward it: the score exceeds the threshold, but the kill switch is off.
    WouldHaveStopped,
    /// Forward it; a new episode (`Some`) is an incident to record.
    Observe(Option<Kill>),
    /// Refuse it with 429; the agent stays active.
    Block,
    /// The agent is inactive from now on. Record the kill, wait for its commit, refuse the call.
    Kill(Kill),
}

/// Tells which entry of which window a response belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// The agent.
    pub agent: AgentId,
    /// The epoch the call came in.
    pub epoch: Epoch,
    /// The call.
    pub call: CallId,
    /// Its conversation.
    pub conversation: ConversationId,
}

/// The current state of an agent.
#[derive(Clone, Copy, Debug)]
pub struct AgentView {
    /// Why it is inactive, if it is.
    pub deactivation: Option<Deactivation>,
    /// Its epoch.
    pub epoch: Epoch,
    /// Its settings.
    pub kill_switch: KillSwitch,
    /// The score of its newest call.
    pub current_score: Score,
    /// When its newest call came.
    pub last_seen: Option<Timestamp>,
}

/// The effect of a change of settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Configured {
    /// The settings before.
    pub before: KillSwitch,
    /// Calls numbered up to this one are out of the windows for good. Stored with the settings.
    pub window_floor: u64,
}

/// The result of applying a part of the log.
#[derive(Debug)]
pub enum Followed {
    /// It was applied, and this is the decision on the caller's own call.
    Decided(Decision),
    /// It does not begin where memory stands: ask again from the current position.
    Behind,
    /// It begins after what memory holds: pass the stored calls of the epoch with it.
    Trimmed,
    /// It was applied, but the caller's own call is not in it.
    NotFound,
}
