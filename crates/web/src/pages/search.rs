//! Searches agents, incidents, requests, and the pages and settings themselves. A plain page; with
//! a script it opens over any other page with Ctrl and K.

use askama::Template;
use axum::extract::State;
use model::{CallId, EventType, IncidentId, Timestamp};
use serde::Deserialize;
use store::{AgentFilter, AgentRow, EventFilter, EventRow, IncidentFilter, IncidentRow, PageRequest};

use super::agent::fold_refusals;
use super::frame::Frame;
use super::link::link;
use super::number::Moment;
use super::plain::cut;
use super::words::{refusal, search as words};
use super::{PageResult, assets, draw};
use crate::app::App;
use crate::input::Filters;
use crate::problem::Problem;

/// The most results of each kind.
const SHOWN: u32 = 8;
/// How many requests are read: a storm of refusals, a row a minute, becomes one row.
const REQUESTS_READ: u32 = 60;
const TITLE_LENGTH: usize = 80;

#[derive(Template)]
#[template(path = "search.html")]
struct SearchPage {
    frame: Frame,
    text: String,
    groups: Vec<Group>,
}

/// The results of one kind.
struct Group {
    name: &'static str,
    found: Vec<Found>,
    /// The address of the further results.
    more: Option<String>,
}

/// One result.
struct Found {
    href: String,
    title: String,
    detail: String,
    at: Option<Moment>,
}

/// The text to search for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SearchQuery {
    text: Option<String>,
}

/// Draws the page.
pub(crate) async fn show(State(app): State<App>, frame: Frame, Filters(query): Filters<SearchQuery>) -> PageResult {
    let text = query.text.map(|text| text.trim().to_owned()).unwrap_or_default();
    let groups = if text.is_empty() { vec![places(&frame, &text)] } else { find(&app, &frame, &text).await? };
    let groups = groups.into_iter().filter(|group| !group.found.is_empty()).collect();
    draw(&SearchPage { frame, text, groups })
}

async fn find(app: &App, frame: &Frame, text: &str) -> Result<Vec<Group>, Problem> {
    app.web().recorder.catch_up().await;
    let (agents, incidents, requests) =
        tokio::try_join!(agents(app, text), incidents(app, text), requests(app, frame, text))?;
    Ok(vec![agents, incidents, requests, places(frame, text)])
}

async fn agents(app: &App, text: &str) -> Result<Group, Problem> {
    let filter = AgentFilter { search: Some(text.to_owned()), ..AgentFilter::default() };
    let page = app.web().store.agents(&filter, &first()).await?;
    let found = |row: AgentRow| Found {
        href: format!("/agents/{}", row.id),
        title: row.id.to_string(),
        detail: row.name.as_deref().map(|name| cut(name, TITLE_LENGTH)).unwrap_or_default(),
        at: None,
    };
    Ok(Group {
        name: words::AGENTS,
        more: page.next.is_some().then(|| link("/agents", &[("search", Some(text.to_owned()))])),
        found: page.items.into_iter().map(found).collect(),
    })
}

async fn incidents(app: &App, text: &str) -> Result<Group, Problem> {
    let (store, now) = (&app.web().store, app.web().clock.now());
    let by_id = match IncidentId::parse(text) {
        Some(id) => store.incident(id).await?,
        None => None,
    };
    let filter = IncidentFilter { text: Some(text.to_owned()), ..IncidentFilter::default() };
    let page = store.incidents(&filter, &first()).await?;
    let found = |row: IncidentRow| Found {
        href: format!("/incidents/{}", row.id),
        title: row.agent.to_string(),
        detail: words::incident(row.state, row.score.value, row.kill_switch.threshold),
        at: Some(Moment::new(row.at, now)),
    };
    Ok(Group {
        name: words::INCIDENTS,
        more: page.next.is_some().then(|| link("/incidents", &[("text", Some(text.to_owned()))])),
        found: by_id.into_iter().chain(page.items).map(found).collect(),
    })
}

async fn requests(app: &App, frame: &Frame, text: &str) -> Result<Group, Problem> {
    let (events, now) = (&frame.events, app.web().clock.now());
    let by_id = match CallId::parse(text) {
        Some(id) => events.event(id).await?,
        None => None,
    };
    let filter = EventFilter { text: Some(text.to_owned()), ..EventFilter::default() };
    let page = events.events(&filter, &PageRequest { limit: REQUESTS_READ, cursor: None }).await?;
    let rows = fold_refusals(by_id.into_iter().chain(page.items).collect());
    let is_more = page.next.is_some() || rows.len() > SHOWN as usize;
    Ok(Group {
        name: words::REQUESTS,
        more: is_more.then(|| link("/requests", &[("text", Some(text.to_owned()))])),
        found: rows.iter().take(SHOWN as usize).map(|row| request(row, now)).collect(),
    })
}

fn request(row: &EventRow, now: Timestamp) -> Found {
    let event = &row.event;
    let refused = event.block_reason.filter(|_| event.event_type == EventType::Blocked).map(refusal);
    let calls = (row.count > 1).then(|| words::calls(row.count));
    let words = [refused, calls.as_deref(), event.provider.as_deref(), event.model.as_deref(), event.error.as_deref()];
    let detail = words.into_iter().flatten().collect::<Vec<_>>().join(", ");
    Found {
        href: format!("/requests/{}", event.id),
        title: words::request(event.agent.as_str(), event.event_type, event.status),
        detail: cut(&detail, TITLE_LENGTH),
        at: Some(Moment::new(event.time, now)),
    }
}

/// Pages and settings that the viewer may see and whose words contain all words of `text`.
fn places(frame: &Frame, text: &str) -> Group {
    let seen = words::PLACES_KNOWN.iter().filter(|place| frame.may(place.needs));
    Group { name: words::PLACES, more: None, found: named(seen, text) }
}

fn named<'a>(places: impl Iterator<Item = &'a words::Place>, text: &str) -> Vec<Found> {
    let wanted: Vec<String> = text.to_lowercase().split_whitespace().map(str::to_owned).collect();
    let is_found = |place: &&words::Place| {
        let words = format!("{} {}", place.title, place.also).to_lowercase();
        wanted.iter().all(|word| words.contains(word.as_str()))
    };
    let found = |place: &words::Place| Found {
        href: place.href.to_owned(),
        title: place.title.to_owned(),
        detail: String::new(),
        at: None,
    };
    places.filter(is_found).map(found).collect()
}

fn first() -> PageRequest {
    PageRequest { limit: SHOWN, cursor: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_found_by_all_words_of_a_search() {
        let all = || words::PLACES_KNOWN.iter();
        let hrefs = |text: &str| named(all(), text).into_iter().map(|found| found.href).collect::<Vec<_>>();
        assert_eq!(hrefs("token"), ["/settings#token", "/settings/people"]);
        assert_eq!(hrefs("audit"), ["/settings/audit"]);
        assert_eq!(hrefs("smtp"), ["/settings#mail"]);
        assert_eq!(hrefs("RETENTION days"), ["/settings#retention"]);
        assert_eq!(hrefs("no such thing"), Vec::<String>::new());
        assert!(hrefs("").len() > 8, "without a search, all of them");
    }
}
