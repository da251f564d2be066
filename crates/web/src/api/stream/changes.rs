//! The part of a batch that a page needs: the agents that did something, and those that were
//! stopped. Pages ask for the rest themselves.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::time::Duration;

use axum::body::Bytes;
use model::EventType;
use serde_json::json;
use store::Notice;
use tokio::time::Instant;

/// More agents than this are sent as `null`: every page has to refresh.
const MAX_AGENTS: usize = 16;

/// Calls are announced at most this often.
const CALLS_EVERY: Duration = Duration::from_secs(2);

/// The changes of one batch, or of several that were not sent yet.
#[derive(Clone, Debug, Default)]
pub(super) struct Changes {
    agents: BTreeSet<String>,
    /// Whether agents were left out.
    is_many: bool,
    /// Agents that the kill switch has stopped, with the incident.
    kills: Vec<(String, String)>,
    /// Whether something has changed that people wait for: more than calls.
    is_urgent: bool,
}

impl Changes {
    /// Adds what was written.
    pub(super) fn push(&mut self, notice: &Notice) {
        let agent = match notice {
            Notice::Event(event) => {
                self.is_urgent |= !matches!(event.event_type, EventType::LlmCall | EventType::Blocked);
                if event.event_type == EventType::KillSwitch {
                    let incident = event.incident.map(|id| id.to_string()).unwrap_or_default();
                    self.kills.push((event.agent.to_string(), incident));
                }
                &event.agent
            }
            Notice::Seen { agent } => agent,
            Notice::Incident { agent, .. } | Notice::Configured { agent, .. } => {
                self.is_urgent = true;
                agent
            }
        };
        self.add_agent(agent.as_str());
    }

    /// Counts events that were not read in time.
    pub(super) fn skip(&mut self) {
        self.is_many = true;
    }

    /// Adds the changes of another batch.
    fn merge(&mut self, other: &Changes) {
        other.agents.iter().for_each(|agent| self.add_agent(agent));
        self.is_many |= other.is_many;
        self.is_urgent |= other.is_urgent;
        self.kills.extend(other.kills.iter().cloned());
    }

    fn add_agent(&mut self, agent: &str) {
        if self.agents.len() < MAX_AGENTS || self.agents.contains(agent) {
            self.agents.insert(agent.to_owned());
        } else {
            self.is_many = true;
        }
    }

    fn is_empty(&self) -> bool {
        self.agents.is_empty() && !self.is_many
    }

    fn text(&self) -> Bytes {
        let mut text = String::new();
        for (agent, incident) in &self.kills {
            let data = json!({"agent_id": agent, "incident_id": incident});
            // Writing to a string cannot fail.
            let _ = write!(text, "event: kill\ndata: {data}\n\n");
        }
        let agents = (!self.is_many).then_some(&self.agents);
        let data = json!({"agents": agents, "urgent": self.is_urgent});
        let _ = write!(text, "event: changed\ndata: {data}\n\n");
        text.into()
    }
}

/// The changes that were not sent to one page yet.
#[derive(Default)]
pub(super) struct Pending {
    changes: Changes,
    told_at: Option<Instant>,
}

impl Pending {
    /// Adds a batch, in which this page may have missed events before.
    pub(super) fn add(&mut self, changes: &Changes, has_missed: bool) {
        self.changes.merge(changes);
        if has_missed {
            self.changes.skip();
        }
    }

    /// The changes to send to the page now.
    pub(super) fn take(&mut self, now: Instant) -> Option<Bytes> {
        let is_time = self.told_at.is_none_or(|told| now.duration_since(told) >= CALLS_EVERY);
        if self.changes.is_empty() || !(is_time || self.changes.is_urgent) {
            return None;
        }
        self.told_at = Some(now);
        Some(std::mem::take(&mut self.changes).text())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::Arc;

    use model::{AgentId, CallId, Epoch, Event, Timestamp};

    use super::*;

    fn changes(agent: &str, event_type: EventType) -> Changes {
        let agent = AgentId::parse(agent).unwrap();
        let event = Event::new(CallId::new(), agent, Epoch::default(), event_type, Timestamp::default());
        let mut changes = Changes::default();
        changes.push(&Notice::Event(Arc::new(event)));
        changes
    }

    #[test]
    fn calls_are_announced_every_two_seconds_and_kills_at_once() {
        let (mut pending, start) = (Pending::default(), Instant::now());
        let text = |bytes: Option<Bytes>| bytes.map(|bytes| String::from_utf8(bytes.to_vec()).unwrap());
        pending.add(&changes("a", EventType::LlmCall), false);
        let first = text(pending.take(start)).unwrap();
        assert_eq!(first, "event: changed\ndata: {\"agents\":[\"a\"],\"urgent\":false}\n\n");

        for agent in ["b", "b", "a"] {
            pending.add(&changes(agent, EventType::LlmCall), false);
            assert_eq!(text(pending.take(start + Duration::from_millis(1999))), None);
        }
        assert!(text(pending.take(start + CALLS_EVERY)).unwrap().contains("[\"a\",\"b\"]"));
        assert_eq!(text(pending.take(start + 2 * CALLS_EVERY)), None, "nothing is new");

        pending.add(&changes("a", EventType::KillSwitch), false);
        let killed = text(pending.take(start + CALLS_EVERY)).unwrap();
        assert!(killed.starts_with("event: kill\ndata: {\"agent_id\":\"a\"") && killed.contains("\"urgent\":true"));
    }

    #[test]
    fn many_agents_or_missed_events_concern_every_page() {
        let mut pending = Pending::default();
        for number in 0..=MAX_AGENTS {
            pending.add(&changes(&format!("agent-{number}"), EventType::LlmCall), false);
        }
        let text = pending.take(Instant::now()).unwrap();
        assert!(text.windows(13).any(|part| part == b"\"agents\":null"), "{text:?}");
        pending.add(&changes("a", EventType::KillSwitch), true);
        assert!(pending.take(Instant::now()).unwrap().windows(13).any(|part| part == b"\"agents\":null"));
    }
}
