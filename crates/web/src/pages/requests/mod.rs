//! The request log: every call, refusal and change of state, newest first. Calls with similar
//! prompts have the same colour.

mod query;
pub(crate) mod request;

use askama::Template;
use axum::extract::State;
use axum::http::{HeaderMap, Uri};
use model::{CallId, Event, EventType, TextHash, Timestamp};
use store::EventRow;

use self::query::{RequestsQuery, Show};
use super::figures::ViewerZone;
use super::frame::Frame;
use super::number::{Count, Moment, Money};
use super::pager::Pager;
use super::plain::cut;
use super::words::units::duration;
use super::{PageResult, assets, draw, see_other, words};
use crate::app::App;
use crate::input::{Filters, Paging};
use crate::problem::Problem;

/// Longer names are cut in the table.
const NAME_LENGTH: usize = 40;
/// The page of the request shows more of an error.
const ERROR_LENGTH: usize = 80;
/// The number of colours for repeated prompts.
const COLOURS: usize = 6;

#[derive(Template)]
#[template(path = "requests.html")]
struct RequestsPage {
    frame: Frame,
    summary: String,
    query: RequestsQuery,
    requests: Vec<RequestLine>,
    /// The address of the same requests as a file.
    csv: String,
    json: String,
    pager: Pager,
    /// Whether the page follows new events: only the newest page does.
    is_live: bool,
}

/// One event in a table.
pub(super) struct RequestLine {
    pub(super) id: String,
    pub(super) at: Moment,
    pub(super) agent: String,
    pub(super) what: &'static str,
    /// The colour of its kind: a kill, a refusal, a failure.
    pub(super) tone: &'static str,
    pub(super) provider: String,
    pub(super) model: String,
    pub(super) status: Option<u16>,
    pub(super) reason: Option<&'static str>,
    /// Why it failed, if it did.
    pub(super) error: Option<String>,
    pub(super) count: u64,
    pub(super) latency: Option<String>,
    pub(super) tokens: Option<(Count, Count)>,
    pub(super) cost: Option<Money>,
    /// Whether it used tokens of a model whose price is not known.
    pub(super) is_unpriced: bool,
    pub(super) score: Option<String>,
    pub(super) would_have_stopped: bool,
    pub(super) alike: Option<Alike>,
}

/// Marks a call whose prompt is similar to that of others in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Alike {
    pub(super) colour: usize,
    pub(super) letter: char,
}

/// Draws the page. The id of a request leads to that request.
pub(crate) async fn show(
    State(app): State<App>,
    frame: Frame,
    uri: Uri,
    headers: HeaderMap,
    Filters(query): Filters<RequestsQuery>,
) -> PageResult {
    let (page, now) = (query.page()?, app.web().clock.now());
    let filter = query.filter(ViewerZone::of(&headers), now)?;
    app.web().recorder.catch_up().await;
    if let Some(id) = query.text.as_deref().and_then(|text| CallId::parse(text.trim()))
        && frame.events.event(id).await?.is_some()
    {
        return Ok(see_other(&format!("/requests/{id}")));
    }
    let events = frame.events.events(&filter, &page).await.map_err(Problem::of_page)?;
    let pager = Pager::new("/requests", uri.query().unwrap_or_default(), events.next.map(|cursor| cursor.0));
    draw(&RequestsPage {
        frame,
        summary: summary(&events.items, &pager),
        requests: lines(&events.items, now),
        csv: query::export(&filter, "csv"),
        json: query::export(&filter, "json"),
        is_live: query.cursor.is_none(),
        pager,
        query,
    })
}

/// The number of calls on the page, and their outcomes.
fn summary(rows: &[EventRow], pager: &Pager) -> String {
    let of_type = |event_type: EventType| rows.iter().filter(move |row| row.event.event_type == event_type);
    let calls = of_type(EventType::LlmCall).count() as u64;
    let failed = of_type(EventType::LlmCall).filter(|row| row.event.is_error()).count() as u64;
    let refused = of_type(EventType::Blocked).chain(of_type(EventType::KillSwitch)).map(|row| row.count).sum();
    let part = match (&pager.first, &pager.next) {
        (None, None) => words::log::Part::All,
        (None, Some(_)) => words::log::Part::Newest,
        (Some(_), _) => words::log::Part::Older,
    };
    words::log::summary(part, words::log::Counts { calls, failed, refused })
}

/// The lines of a table, with similar prompts marked.
pub(super) fn lines(rows: &[EventRow], now: Timestamp) -> Vec<RequestLine> {
    let prompts: Vec<_> = rows.iter().map(Prompt::of).collect();
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
            tone: tone(event),
            provider: name(&event.provider),
            model: name(&event.model),
            status: event.status,
            // The reason of a kill is the kill itself.
            reason: event.block_reason.filter(|_| event.event_type == EventType::Blocked).map(words::refusal),
            error: event.error.as_deref().filter(|_| event.is_error()).map(|error| cut(error, ERROR_LENGTH)),
            count: row.count,
            latency: event.latency_ms.map(duration),
            tokens: event.usage.input.zip(event.usage.output).map(|(input, output)| (input.into(), output.into())),
            cost: event.cost.map(Money::from),
            is_unpriced: is_unpriced(event),
            score: event.score.map(|score| format!("{:.1}", score.value)),
            would_have_stopped: event.would_have_stopped,
            alike,
        }
    }
}

/// Whether a call used tokens of a model whose price is not known.
fn is_unpriced(event: &Event) -> bool {
    event.cost.is_none() && event.usage.input.or(event.usage.output).is_some()
}

fn tone(event: &Event) -> &'static str {
    match event.event_type {
        EventType::KillSwitch => "red",
        EventType::Blocked => "amber",
        EventType::LlmCall if event.is_error() || event.status.is_none_or(|status| status >= 400) => "amber",
        EventType::LlmCall => "",
        EventType::AgentActivated => "green",
        EventType::AgentDeactivated => "grey",
    }
}

/// The part of a call that is compared.
#[derive(Clone, Copy)]
struct Prompt {
    hash: Option<TextHash>,
    /// Whether it counted as a repetition. An agent at work has similar prompts at every step,
    /// which are not marked.
    is_scored: bool,
}

impl Prompt {
    fn of(row: &EventRow) -> Prompt {
        Prompt { hash: row.prompt, is_scored: row.event.score.is_some_and(|score| score.value > 0.0) }
    }
}

/// A group of similar prompts.
struct Group {
    first: TextHash,
    size: usize,
    is_scored: bool,
}

/// Groups similar prompts: a group gets one colour and letter if one of its calls counted as a
/// repetition. A prompt without a similar one gets none.
fn alike(prompts: &[Prompt]) -> Vec<Option<Alike>> {
    let mut groups: Vec<Group> = Vec::new();
    let mut places = Vec::with_capacity(prompts.len());
    for prompt in prompts {
        places.push(prompt.hash.map(|hash| {
            let place = groups.iter().position(|group| group.first.is_similar(hash)).unwrap_or_else(|| {
                groups.push(Group { first: hash, size: 0, is_scored: false });
                groups.len() - 1
            });
            groups[place].size += 1;
            groups[place].is_scored |= prompt.is_scored;
            place
        }));
    }
    let mut repeated = 0;
    let is_marked = |group: &Group| group.size > 1 && group.is_scored;
    let names: Vec<_> = groups.iter().map(|group| is_marked(group).then(|| name_of(&mut repeated))).collect();
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
    fn similar_prompts_share_a_colour() {
        let letters = |prompts: &[Option<u64>], is_scored: bool| -> String {
            let prompt = |hash: &Option<u64>| Prompt { hash: hash.map(TextHash), is_scored };
            let prompts: Vec<_> = prompts.iter().map(prompt).collect();
            alike(&prompts).into_iter().map(|alike| alike.map_or('-', |alike| alike.letter)).collect()
        };
        assert_eq!(letters(&[], true), "");
        assert_eq!(letters(&[Some(0), None, Some(1), Some(u64::MAX), Some(0xff << 40)], true), "A-A--");
        assert_eq!(letters(&[Some(0xff), Some(0), Some(0xff), Some(0)], true), "ABAB");
        assert_eq!(letters(&[Some(0), Some(0), Some(0)], false), "---", "the steps of an agent at work");
    }
}
