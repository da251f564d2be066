//! The request log: every call, refusal and change of state, newest first. Calls that asked alike have the same colour.

use askama::Template;
use axum::extract::State;
use axum::http::Uri;
use model::{AgentId, EventType, TextHash, Timestamp};
use serde::Deserialize;
use store::{EventFilter, EventRow};

use super::frame::Frame;
use super::number::{Count, Moment, Money};
use super::pager::Pager;
use super::plain::cut;
use super::words::units::duration;
use super::{Drawn, assets, draw, words};
use crate::app::App;
use crate::input::{Filters, Paging};
use crate::problem::Problem;

const SHOWN: u32 = 50;
/// Longer names are cut in the table.
const NAME_LENGTH: usize = 40;
/// How many colours there are for prompts that repeat.
const COLOURS: usize = 6;

#[derive(Template)]
#[template(path = "requests.html")]
struct RequestsPage {
    frame: Frame,
    summary: String,
    query: RequestsQuery,
    requests: Vec<RequestLine>,
    pager: Pager,
    /// The newest page follows what happens; an older one stands still.
    is_live: bool,
}

/// One event in a table.
pub(super) struct RequestLine {
    pub(super) id: String,
    pub(super) at: Moment,
    pub(super) agent: String,
    pub(super) what: &'static str,
    /// The colour of what it is: a kill, a refusal, a failure.
    pub(super) tone: &'static str,
    pub(super) provider: String,
    pub(super) model: String,
    pub(super) status: Option<u16>,
    pub(super) reason: Option<&'static str>,
    pub(super) count: u64,
    pub(super) latency: Option<String>,
    pub(super) tokens: Option<(Count, Count)>,
    pub(super) cost: Option<Money>,
    pub(super) score: Option<String>,
    pub(super) would_have_stopped: bool,
    pub(super) alike: Option<Alike>,
}

/// That other calls of the list asked alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Alike {
    pub(super) colour: usize,
    pub(super) letter: char,
}

/// What the filters of the page are.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RequestsQuery {
    agent: Option<AgentId>,
    #[serde(rename = "type")]
    event_type: Option<EventType>,
    provider: Option<String>,
    model: Option<String>,
    conversation: Option<String>,
    status: Option<u16>,
    blocked: Option<bool>,
    range: Option<Range>,
    cursor: Option<String>,
}

/// How far back.
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
        Timestamp::from_millis(now.as_millis() - hours * 60 * 60 * 1000)
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
    fn is_type(&self, word: &str) -> bool {
        self.event_type.is_some_and(|event_type| event_type.as_str() == word)
    }

    fn is_range(&self, word: &str) -> bool {
        self.range.is_some_and(|range| range.as_str() == word)
    }

    /// Whether not everything is asked for.
    fn is_filtered(&self) -> bool {
        let words = [&self.provider, &self.model, &self.conversation, &self.cursor];
        let is_narrowed = self.agent.is_some() || self.event_type.is_some() || self.range.is_some();
        is_narrowed || self.status.is_some() || self.blocked.is_some() || words.iter().any(|word| word.is_some())
    }

    fn filter(&self, now: Timestamp) -> EventFilter {
        EventFilter {
            agent: self.agent.clone(),
            event_type: self.event_type,
            provider: self.provider.clone(),
            model: self.model.clone(),
            conversation: self.conversation.clone(),
            status: self.status,
            blocked: self.blocked,
            from: self.range.map(|range| range.start(now)),
            ..EventFilter::default()
        }
    }
}

/// Draws the page.
pub(crate) async fn show(
    State(app): State<App>,
    frame: Frame,
    uri: Uri,
    Filters(query): Filters<RequestsQuery>,
) -> Drawn {
    let (page, now) = (query.page()?, app.web().clock.now());
    app.web().recorder.catch_up().await;
    let events = app.web().store.events(&query.filter(now), &page).await.map_err(Problem::of_page)?;
    let requests = lines(&events.items, now);
    draw(&RequestsPage {
        frame,
        summary: words::repeats(requests.iter().filter(|line| line.alike.is_some()).count(), requests.len()),
        requests,
        pager: Pager::new("/requests", uri.query().unwrap_or_default(), events.next.map(|cursor| cursor.0)),
        is_live: query.cursor.is_none(),
        query,
    })
}

/// The lines of a table, with what is alike in them marked.
pub(super) fn lines(rows: &[EventRow], now: Timestamp) -> Vec<RequestLine> {
    let prompts: Vec<_> = rows.iter().map(|row| row.prompt).collect();
    rows.iter().zip(alike(&prompts)).map(|(row, alike)| RequestLine::new(row, alike, now)).collect()
}

impl RequestLine {
    fn new(row: &EventRow, alike: Option<Alike>, now: Timestamp) -> RequestLine {
        let event = &row.event;
        let name = |name: &Option<String>| name.as_deref().map(|name| cut(name, NAME_LENGTH)).unwrap_or_default();
        RequestLine {
            id: event.id.to_string(),
            at: Moment::new(event.time, now),
            agent: event.agent.to_string(),
            what: words::event(event.event_type),
            tone: tone(event.event_type, event.status),
            provider: name(&event.provider),
            model: name(&event.model),
            status: event.status,
            // Of a kill, the reason is the kill.
            reason: event.block_reason.filter(|_| event.event_type == EventType::Blocked).map(words::refusal),
            count: row.count,
            latency: event.latency_ms.map(duration),
            tokens: event.usage.input.zip(event.usage.output).map(|(input, output)| (input.into(), output.into())),
            cost: event.cost.map(Money::from),
            score: event.score.map(|score| format!("{:.1}", score.value)),
            would_have_stopped: event.would_have_stopped,
            alike,
        }
    }
}

fn tone(event_type: EventType, status: Option<u16>) -> &'static str {
    match event_type {
        EventType::KillSwitch => "red",
        EventType::Blocked => "amber",
        EventType::LlmCall if status.is_none_or(|status| status >= 400) => "amber",
        EventType::LlmCall => "",
        EventType::AgentActivated => "green",
        EventType::AgentDeactivated => "grey",
    }
}

/// Groups prompts that are alike: those of a group get the same colour and letter, one that stands alone gets none.
fn alike(prompts: &[Option<TextHash>]) -> Vec<Option<Alike>> {
    let mut groups: Vec<(TextHash, usize)> = Vec::new();
    let mut places = Vec::with_capacity(prompts.len());
    for prompt in prompts {
        places.push(prompt.map(|prompt| match groups.iter().position(|(first, _)| first.is_similar(prompt)) {
            Some(place) => {
                groups[place].1 += 1;
                place
            }
            None => {
                groups.push((prompt, 1));
                groups.len() - 1
            }
        }));
    }
    let mut repeated = 0;
    let names: Vec<_> = groups.iter().map(|(_, size)| (*size > 1).then(|| name_of(&mut repeated))).collect();
    places.into_iter().map(|place| place.and_then(|place| names[place])).collect()
}

fn name_of(repeated: &mut usize) -> Alike {
    let place = *repeated;
    *repeated += 1;
    Alike { colour: place % COLOURS + 1, letter: char::from(b'A' + (place % 26) as u8) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_ask_alike_share_a_colour() {
        let letters = |prompts: &[Option<u64>]| -> String {
            let prompts: Vec<_> = prompts.iter().map(|prompt| prompt.map(TextHash)).collect();
            alike(&prompts).into_iter().map(|alike| alike.map_or('-', |alike| alike.letter)).collect()
        };
        assert_eq!(letters(&[]), "");
        assert_eq!(letters(&[Some(0), None, Some(1), Some(u64::MAX), Some(0xff << 40)]), "A-A--");
        assert_eq!(letters(&[Some(0xff), Some(0), Some(0xff), Some(0)]), "ABAB");
    }
}
