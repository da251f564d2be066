//! The filters of the request log, as its address holds them.

use model::{AgentId, EventType, Timestamp};
use serde::Deserialize;
use store::EventFilter;

use crate::input::Paging;
use crate::pages::figures::ViewerZone;
use crate::pages::link::link;
use crate::pages::words::problem::takes;
use crate::problem::Problem;

const SHOWN: u32 = 50;
/// A call that took this long is slow, unless the address says otherwise.
const SLOW_SECONDS: u32 = 10;
const HOUR_MS: i64 = 60 * 60 * 1000;
const DAY_MS: i64 = 24 * HOUR_MS;

/// The filters of the page.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RequestsQuery {
    /// Any part of an agent's name, a model, a conversation or an error; or the id of a request.
    pub(super) text: Option<String>,
    pub(super) show: Option<Show>,
    pub(super) agent: Option<AgentId>,
    #[serde(rename = "type")]
    event_type: Option<EventType>,
    pub(super) provider: Option<String>,
    pub(super) model: Option<String>,
    pub(super) conversation: Option<String>,
    pub(super) status: Option<u16>,
    blocked: Option<bool>,
    /// The seconds from which a call is slow. Without other filters, it shows slow calls.
    slow: Option<u32>,
    range: Option<Range>,
    /// Days in the viewer's zone, such as `2026-11-18`.
    pub(super) from: Option<String>,
    pub(super) to: Option<String>,
    pub(super) cursor: Option<String>,
}

/// The kind of requests to show.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Show {
    /// Everything, whatever `slow` says.
    All,
    Failed,
    Blocked,
    Slow,
}

/// The length of the period.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
enum Range {
    #[serde(rename = "1h")]
    Hour,
    #[serde(rename = "24h")]
    Day,
    #[serde(rename = "7d")]
    Week,
}

impl Range {
    fn as_str(self) -> &'static str {
        match self {
            Range::Hour => "1h",
            Range::Day => "24h",
            Range::Week => "7d",
        }
    }

    fn start(self, now: Timestamp) -> Timestamp {
        let hours = match self {
            Range::Hour => 1,
            Range::Day => 24,
            Range::Week => 7 * 24,
        };
        Timestamp::from_millis(now.as_millis() - hours * HOUR_MS)
    }
}

impl Paging for RequestsQuery {
    fn limit(&self) -> Option<u32> {
        Some(SHOWN)
    }
    fn cursor(&self) -> Option<&str> {
        self.cursor.as_deref()
    }
}

impl RequestsQuery {
    /// Whether only events of this type are shown.
    pub(super) fn is_type(&self, word: &str) -> bool {
        self.event_type.is_some_and(|event_type| event_type.as_str() == word)
    }

    pub(super) fn is_range(&self, word: &str) -> bool {
        self.range.is_some_and(|range| range.as_str() == word)
    }

    /// The seconds from which a call is slow.
    pub(super) fn slow_seconds(&self) -> u32 {
        self.slow.unwrap_or(SLOW_SECONDS)
    }

    pub(super) fn is_slow(&self) -> bool {
        self.show == Some(Show::Slow) || (self.slow.is_some() && self.show.is_none())
    }

    /// The seconds that were typed, while they are in effect.
    pub(super) fn typed_slow(&self) -> Option<u32> {
        self.slow.filter(|_| self.is_slow())
    }

    /// Whether the filter asks for failed or slow calls, which are searched in steps.
    pub(super) fn is_looked_for(&self) -> bool {
        self.is_slow() || self.show == Some(Show::Failed)
    }

    /// The number of further filters that are set.
    pub(super) fn further(&self) -> usize {
        let words = [&self.provider, &self.model, &self.conversation, &self.from, &self.to];
        let others =
            [self.agent.is_some(), self.event_type.is_some(), self.status.is_some(), self.typed_slow().is_some()];
        words.iter().filter(|word| word.is_some()).count() + others.iter().filter(|is_set| **is_set).count()
    }

    /// Whether any filter is set.
    pub(super) fn is_filtered(&self) -> bool {
        let shows_some = self.show.is_some_and(|show| show != Show::All);
        let is_narrowed = self.text.is_some() || shows_some || self.range.is_some();
        is_narrowed || self.further() > 0 || self.blocked.is_some() || self.cursor.is_some()
    }

    /// The filter for the store, or the error in a day.
    pub(super) fn filter(&self, zone: ViewerZone, now: Timestamp) -> Result<EventFilter, Problem> {
        let day = |field: &'static str, day: &Option<String>| match day {
            None => Ok(None),
            Some(day) => zone.day(day).map(Some).ok_or_else(|| Problem::field(field, takes::DAY)),
        };
        // Both hold: the later one.
        let from = day("from", &self.from)?.max(self.range.map(|range| range.start(now)));
        // The last day is part of the range.
        let to = day("to", &self.to)?.map(|day| Timestamp::from_millis(day.as_millis() + DAY_MS));
        Ok(EventFilter {
            agent: self.agent.clone(),
            event_type: self.event_type,
            provider: self.provider.clone(),
            model: self.model.clone(),
            conversation: self.conversation.clone(),
            status: self.status,
            blocked: self.blocked.or((self.show == Some(Show::Blocked)).then_some(true)),
            failed: self.show == Some(Show::Failed),
            min_latency_ms: self.is_slow().then_some(u64::from(self.slow_seconds()) * 1000),
            from,
            to,
            text: self.text.clone(),
            ..EventFilter::default()
        })
    }
}

/// The address of the same requests as a file.
pub(super) fn export(filter: &EventFilter, format: &str) -> String {
    let text = |text: &Option<String>| text.clone();
    link(
        "/api/events/export",
        &[
            ("format", Some(format.to_owned())),
            ("agent", filter.agent.as_ref().map(ToString::to_string)),
            ("type", filter.event_type.map(|event_type| event_type.as_str().to_owned())),
            ("provider", text(&filter.provider)),
            ("model", text(&filter.model)),
            ("conversation", text(&filter.conversation)),
            ("status", filter.status.map(|status| status.to_string())),
            ("blocked", filter.blocked.map(|blocked| blocked.to_string())),
            ("failed", filter.failed.then(|| true.to_string())),
            ("min_latency_ms", filter.min_latency_ms.map(|millis| millis.to_string())),
            ("from", filter.from.map(|from| from.to_string())),
            ("to", filter.to.map(|to| to.to_string())),
            ("text", text(&filter.text)),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_of_days_holds_the_last_day_whole() {
        let zone = ViewerZone::from_minutes(120);
        let query = RequestsQuery {
            from: Some("2026-11-17".to_owned()),
            to: Some("2026-11-18".to_owned()),
            show: Some(Show::Slow),
            ..RequestsQuery::default()
        };
        let filter = query.filter(zone, Timestamp::default()).unwrap_or_default();
        let expected = "/api/events/export?format=csv&min_latency_ms=10000&from=2026-11-16T22%3A00%3A00.000Z&\
                        to=2026-11-18T22%3A00%3A00.000Z";
        assert_eq!(export(&filter, "csv"), expected);
        let slower = RequestsQuery { slow: Some(45), ..RequestsQuery::default() };
        let filter = slower.filter(zone, Timestamp::default()).unwrap_or_default();
        assert_eq!(filter.min_latency_ms, Some(45_000));
        let wrong = RequestsQuery { from: Some("yesterday".to_owned()), ..RequestsQuery::default() };
        assert!(wrong.filter(zone, Timestamp::default()).is_err());
    }
}
