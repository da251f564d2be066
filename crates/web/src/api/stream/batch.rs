//! Events of the stream as text, many in one piece.

use std::fmt::Write;
use std::sync::Arc;

use axum::body::Bytes;
use model::EventType;
use serde::Serialize;
use serde_json::json;
use store::Notice;

use super::changes::Changes;
use crate::api::events::EventView;
use crate::api::kill_switch::SettingsView;

/// Above this size a batch takes no more calls and refusals. Changes of state are always sent.
const MAX_BYTES: usize = 64 * 1024;

/// The text for all watchers, serialised once for each of the two kinds. Cloning is cheap.
#[derive(Clone, Debug)]
pub(super) struct Batch {
    /// The number of its first event, counted since the server started.
    pub(super) first: u64,
    /// How many events it covers, with those that were left out.
    pub(super) count: u64,
    text: Bytes,
    /// The text for those who may not read the errors of all agents, if it differs.
    text_without_errors: Option<Bytes>,
    changes: Arc<Changes>,
}

impl Batch {
    /// The part that a page needs.
    pub(super) fn changes(&self) -> &Changes {
        &self.changes
    }

    /// The text for a watcher that missed this many events before.
    pub(super) fn text_after(&self, missed: u64, reads_errors: bool) -> Bytes {
        let readable = self.text_without_errors.as_ref().filter(|_| !reads_errors).unwrap_or(&self.text);
        if missed == 0 {
            return readable.clone();
        }
        let mut text = String::new();
        write_event(&mut text, "lagged", &json!({"missed": missed}));
        [text.as_bytes(), readable].concat().into()
    }
}

/// A batch in the making.
#[derive(Default)]
pub(super) struct BatchBuilder {
    text: String,
    text_without_errors: Option<String>,
    count: u64,
    left_out: u64,
    changes: Changes,
}

impl BatchBuilder {
    /// Adds what was written.
    pub(super) fn push(&mut self, notice: Notice) {
        self.count += 1;
        self.changes.push(&notice);
        if self.text.len() >= MAX_BYTES && is_frequent(&notice) {
            self.left_out += 1;
            return;
        }
        if let Some(hidden) = hidden(&notice) {
            let text = self.text_without_errors.get_or_insert_with(|| self.text.clone());
            write_notice(text, &hidden);
        } else if let Some(text) = &mut self.text_without_errors {
            write_notice(text, &notice);
        }
        write_notice(&mut self.text, &notice);
    }

    /// Counts events that were dropped before they could be read.
    pub(super) fn skip(&mut self, missed: u64) {
        self.count += missed;
        self.left_out += missed;
        self.changes.skip();
    }

    /// The batch, whose first event has this number.
    pub(super) fn finish(mut self, first: u64) -> Batch {
        if self.left_out > 0 {
            for text in std::iter::once(&mut self.text).chain(&mut self.text_without_errors) {
                write_event(text, "lagged", &json!({"missed": self.left_out}));
            }
        }
        Batch {
            first,
            count: self.count,
            text: self.text.into(),
            text_without_errors: self.text_without_errors.map(Bytes::from),
            changes: Arc::new(self.changes),
        }
    }
}

fn is_frequent(notice: &Notice) -> bool {
    match notice {
        Notice::Event(event) => matches!(event.event_type, EventType::LlmCall | EventType::Blocked),
        Notice::Seen { .. } => true,
        Notice::Incident { .. } | Notice::Configured { .. } => false,
    }
}

/// The notice without an error that not everyone may read; `None` if it has none.
fn hidden(notice: &Notice) -> Option<Notice> {
    let Notice::Event(event) = notice else { return None };
    event.error.as_ref()?;
    let mut readable = event.as_ref().clone();
    readable.hide_error();
    (readable.error != event.error).then(|| Notice::Event(Arc::new(readable)))
}

fn write_notice(text: &mut String, notice: &Notice) {
    match notice {
        Notice::Event(event) => {
            let name = name(event.event_type);
            write_event(text, name, &EventView::new(event.as_ref().clone(), 1));
        }
        Notice::Incident { id, agent } => write_event(text, "incident", &json!({"id": id, "agent_id": agent})),
        Notice::Seen { agent } => write_event(text, "seen", &json!({"agent_id": agent})),
        Notice::Configured { agent, kill_switch } => {
            let settings = SettingsView::from(*kill_switch);
            write_event(text, "configured", &json!({"agent_id": agent, "kill_switch": settings}));
        }
    }
}

fn name(event_type: EventType) -> &'static str {
    match event_type {
        EventType::LlmCall => "call",
        EventType::Blocked => "blocked",
        EventType::KillSwitch => "kill",
        EventType::AgentActivated => "activated",
        EventType::AgentDeactivated => "deactivated",
    }
}

fn write_event(text: &mut String, name: &str, value: &impl Serialize) {
    // A view always serialises; if it did not, an event without data would be better than none.
    let data = serde_json::to_string(value).unwrap_or_else(|_| "{}".to_owned());
    // Writing to a string cannot fail.
    let _ = write!(text, "event: {name}\ndata: {data}\n\n");
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use model::{AgentId, CallId, Epoch, Event, IncidentId, Timestamp};

    use super::*;

    fn call(event_type: EventType) -> Notice {
        let agent = AgentId::parse("busy").unwrap();
        Notice::Event(Arc::new(Event::new(CallId::new(), agent, Epoch::default(), event_type, Timestamp::default())))
    }

    #[test]
    fn full_batch_leaves_out_calls_but_no_kill() {
        let mut builder = BatchBuilder::default();
        for _ in 0..1000 {
            builder.push(call(EventType::LlmCall));
        }
        builder.push(call(EventType::KillSwitch));
        builder.push(Notice::Incident {
            id: IncidentId::at(Timestamp::default()),
            agent: AgentId::parse("busy").unwrap(),
        });
        let batch = builder.finish(7);
        let text = std::str::from_utf8(&batch.text).unwrap();
        let count = |name: &str| text.matches(&format!("event: {name}\n")).count();
        assert_eq!((count("kill"), count("incident"), count("lagged")), (1, 1, 1));
        assert!(text.contains(&format!("{{\"missed\":{}}}", 1000 - count("call"))), "{}", count("call"));
        assert_eq!((batch.first, batch.count), (7, 1002));
    }

    #[test]
    fn lagged_watcher_gets_the_missed_count_first() {
        let mut builder = BatchBuilder::default();
        builder.push(call(EventType::LlmCall));
        let batch = builder.finish(10);
        assert!(batch.text_after(0, true).starts_with(b"event: call\n"));
        assert!(batch.text_after(3, true).starts_with(b"event: lagged\ndata: {\"missed\":3}\n\nevent: call\n"));
    }
}
