//! Events: the record of every call and of every change of an agent's state.

use serde::{Deserialize, Serialize};

use crate::{AgentId, AgentKeyId, CallId, Epoch, Fingerprint, IncidentId, NanoUsd, Score, Timestamp, Unscored, Usage};

/// The type of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::EnumString, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum EventType {
    /// A call was forwarded, whatever its outcome.
    LlmCall,
    /// A call was refused.
    Blocked,
    /// The kill switch deactivated the agent.
    KillSwitch,
    /// A person activated the agent.
    AgentActivated,
    /// A person deactivated the agent.
    AgentDeactivated,
}

impl EventType {
    /// Its name in SQL, API and docs.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Parses its name.
    pub fn parse(word: &str) -> Option<EventType> {
        word.parse().ok()
    }
}

/// Why a call was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, strum::EnumString, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum BlockReason {
    /// The agent is inactive.
    Inactive,
    /// It came outside the agent's allowed hours.
    OutsideHours,
    /// The agent exceeded a rate limit.
    RateLimited,
    /// The agent has spent its budget.
    BudgetExceeded,
    /// It looped and the action is `block`.
    LoopDetected,
    /// Its agent key is missing or wrong. Counted, not recorded.
    Unauthorized,
}

impl BlockReason {
    /// Its name in SQL, API and docs.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Parses its name.
    pub fn parse(word: &str) -> Option<BlockReason> {
        word.parse().ok()
    }
}

/// The status recorded when the client disconnects before it is answered.
pub const CLIENT_WENT_AWAY: u16 = 499;

/// One recorded event.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Its id; for a call, the request id.
    pub id: CallId,
    /// The agent.
    pub agent: AgentId,
    /// The agent's epoch when the event happened.
    pub epoch: Epoch,
    /// Its type.
    pub event_type: EventType,
    /// When it happened; for a call, when it came.
    pub time: Timestamp,
    /// The conversation, as named by the client or derived from the first message.
    pub conversation: Option<String>,
    /// The provider.
    pub provider: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The model that the client asked for, if a policy replaced it.
    pub model_asked: Option<String>,
    /// The status that the client got.
    pub status: Option<u16>,
    /// From the call's arrival to its last byte.
    pub latency_ms: Option<u64>,
    /// From the call's arrival to the response's first byte.
    pub first_byte_ms: Option<u64>,
    /// Tokens.
    pub usage: Usage,
    /// The cost; `None` if no tokens were used or the model's price is unknown.
    pub cost: Option<NanoUsd>,
    /// Whether tokens and cost are an estimate, because the provider did not report them.
    pub estimated: bool,
    /// Whether the request asked for a stream.
    pub streamed: bool,
    /// Its score, if it was scored.
    pub score: Option<Score>,
    /// Why it was forwarded without a score. Counted by agent and hour, not kept with the event.
    pub unscored: Option<Unscored>,
    /// Whether the score exceeded the threshold while the kill switch was off.
    pub would_have_stopped: bool,
    /// Its fingerprint, if it was scored.
    pub fingerprint: Option<Fingerprint>,
    /// The error as text.
    pub error: Option<String>,
    /// Why it was refused, if it was.
    pub block_reason: Option<BlockReason>,
    /// The incident it belongs to.
    pub incident: Option<IncidentId>,
    /// The agent key that it came with.
    pub key: Option<AgentKeyId>,
    /// The subject of its token, if it came with a token instead of a key.
    pub token_subject: Option<Box<str>>,
}

impl Event {
    /// The prefix of [`Event::error`] if the request could not be read and so was not scored.
    pub const UNREAD: &'static str = "unread: ";
    /// Its prefix if the call carries a conversation in an unsupported form.
    pub const UNSUPPORTED: &'static str = "not scored: ";
    /// Its text if detection failed.
    pub const NOT_SCORED: &'static str = "detection failed: not scored";
    /// Its text if the client disconnected before the end of the answer.
    pub const CLIENT_LEFT: &'static str = "client went away";
    /// Its text for those who may not read the provider's own message.
    pub const HIDDEN: &'static str = "the provider reported an error, which only operators may read";

    /// Whether a forwarded call failed because of the provider or the proxy. A client that
    /// disconnects is not an error.
    pub fn is_error(&self) -> bool {
        match (self.event_type, self.status) {
            (EventType::LlmCall, Some(CLIENT_WENT_AWAY)) => false,
            (EventType::LlmCall, Some(400..)) => true,
            (EventType::LlmCall, _) => self.error.is_some() && !self.has_note(),
            _ => false,
        }
    }

    /// Whether [`Event::error`] is only a note: the call did not fail because of it.
    fn has_note(&self) -> bool {
        self.error.as_deref().is_some_and(|error| {
            [Event::UNREAD, Event::UNSUPPORTED].iter().any(|prefix| error.starts_with(prefix))
                || [Event::NOT_SCORED, Event::CLIENT_LEFT].contains(&error)
        })
    }

    /// Replaces the error unless it is certain that it is not the provider's own message, which may
    /// repeat a part of the prompt: every answer that began may have brought one.
    pub fn hide_error(&mut self) {
        let is_answered = self.first_byte_ms.is_some();
        if is_answered && self.error.is_some() && !self.has_note() {
            self.error = Some(Event::HIDDEN.to_owned());
        }
    }

    /// An event with only the fields that every event has.
    pub fn new(id: CallId, agent: AgentId, epoch: Epoch, event_type: EventType, time: Timestamp) -> Event {
        Event {
            id,
            agent,
            epoch,
            event_type,
            time,
            conversation: None,
            provider: None,
            model: None,
            model_asked: None,
            status: None,
            latency_ms: None,
            first_byte_ms: None,
            usage: Usage::default(),
            cost: None,
            estimated: false,
            streamed: false,
            score: None,
            unscored: None,
            would_have_stopped: false,
            fingerprint: None,
            error: None,
            block_reason: None,
            incident: None,
            key: None,
            token_subject: None,
        }
    }
}
