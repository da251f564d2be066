//! The recent activity of an agent, for its page: its requests with repeated refusals folded, its
//! conversations by their first words, its incidents, and the calls that were not scored.

use model::{AgentId, CallId, EventType, Timestamp, Unscored};
use store::{ConversationRow, EventFilter, EventRow, IncidentFilter, PageRequest, Period};

use crate::app::App;
use crate::event_reader::EventReader;
use crate::pages::frame::Frame;
use crate::pages::incidents::IncidentLine;
use crate::pages::number::{Count, Moment, Money};
use crate::pages::plain::{cut, plain};
use crate::pages::words;
use crate::problem::Problem;

const REQUESTS_SHOWN: usize = 20;
/// Refusals take a row a minute, which are folded into one. So up to this many pages are read until
/// enough rows are left.
const REQUEST_PAGES: usize = 4;
const INCIDENTS_SHOWN: u32 = 5;
/// The most expensive conversations of the last seven days are shown.
const CONVERSATION_HOURS: u32 = 7 * 24;
const CONVERSATIONS_SHOWN: u32 = 10;
/// Ids of clients are long, and people know a conversation by its words or its time.
const CONVERSATION_LENGTH: usize = 12;
/// Calls that were not scored are counted over the last seven days.
const UNSCORED_HOURS: u32 = 7 * 24;

/// The recent activity of an agent.
pub(super) struct Activity {
    pub(super) events: Vec<EventRow>,
    pub(super) incidents: Vec<IncidentLine>,
    pub(super) would_have_stopped: u64,
    pub(super) unscored: Vec<UnscoredLine>,
    pub(super) conversations: Vec<ConversationLine>,
}

/// One conversation.
pub(super) struct ConversationLine {
    /// The name as it is stored, for the link.
    pub(super) key: String,
    /// Its first words, while the body of one of its calls is kept.
    pub(super) words: Option<String>,
    /// The beginning of the key, which tells conversations of one hour apart.
    pub(super) name: String,
    pub(super) began: Moment,
    pub(super) calls: Count,
    pub(super) errors: Count,
    pub(super) cost: Money,
}

/// The calls that were not scored for one reason.
pub(super) struct UnscoredLine {
    pub(super) why: &'static str,
    pub(super) calls: Count,
    /// Whether these calls may hide a loop.
    pub(super) may_hide_a_loop: bool,
}

/// Reads the recent activity of `agent`, as far as the viewer of `frame` may see it.
pub(super) async fn read(app: &App, frame: &Frame, agent: &AgentId, now: Timestamp) -> Result<Activity, Problem> {
    let store = &app.web().store;
    let of_agent = IncidentFilter { agent: Some(agent.clone()), ..IncidentFilter::default() };
    let incidents_page = PageRequest { limit: INCIDENTS_SHOWN, cursor: None };
    let (events, incidents, would_have_stopped, unscored) = tokio::try_join!(
        events(&frame.events, agent),
        async { Ok(store.incidents(&of_agent, &incidents_page).await?) },
        async { Ok(store.would_have_stopped(agent).await?) },
        async { Ok(store.unscored(agent, Period::last_hours(UNSCORED_HOURS, now)).await?) },
    )?;
    let line = |(reason, calls): (Unscored, u64)| UnscoredLine {
        why: words::unscored(reason),
        calls: calls.into(),
        may_hide_a_loop: reason.may_hide_a_loop(),
    };
    // The first words of a conversation are a part of a prompt.
    let known: &[EventRow] = if frame.may_operate() { &events } else { &[] };
    let conversations = conversations(app, agent, known, now).await?;
    let mut events = fold_refusals(events);
    events.truncate(REQUESTS_SHOWN);
    Ok(Activity {
        events,
        incidents: incidents.items.into_iter().map(|row| IncidentLine::new(&row.into(), now)).collect(),
        would_have_stopped,
        unscored: unscored.into_iter().map(line).collect(),
        conversations,
    })
}

/// The newest events, enough to fill the list once refusals are folded.
async fn events(reader: &EventReader, agent: &AgentId) -> Result<Vec<EventRow>, Problem> {
    let filter = EventFilter { agent: Some(agent.clone()), ..EventFilter::default() };
    let mut page = PageRequest { limit: 200, cursor: None };
    let mut events: Vec<EventRow> = Vec::new();
    for _ in 0..REQUEST_PAGES {
        let read = reader.events(&filter, &page).await?;
        events.extend(read.items);
        let other_than_refusals = events.iter().filter(|row| row.event.event_type != EventType::Blocked).count();
        match read.next.filter(|_| other_than_refusals < REQUESTS_SHOWN) {
            Some(next) => page = PageRequest { limit: PageRequest::MAX_LIMIT, cursor: Some(next) },
            None => break,
        }
    }
    Ok(events)
}

/// Folds consecutive refusals of one agent for the same reason into one row.
pub(in crate::pages) fn fold_refusals(events: Vec<EventRow>) -> Vec<EventRow> {
    let mut rows: Vec<EventRow> = Vec::with_capacity(events.len());
    for row in events {
        let is_same = |last: &EventRow| {
            let is_refusal = row.event.event_type == EventType::Blocked && last.event.event_type == EventType::Blocked;
            let (last, event) = (&last.event, &row.event);
            is_refusal && last.block_reason == event.block_reason && last.agent == event.agent
        };
        match rows.last_mut().filter(|last| is_same(last)) {
            Some(last) => last.count += row.count,
            None => rows.push(row),
        }
    }
    rows
}

async fn conversations(
    app: &App,
    agent: &AgentId,
    events: &[EventRow],
    now: Timestamp,
) -> Result<Vec<ConversationLine>, Problem> {
    let period = Period::last_hours(CONVERSATION_HOURS, now);
    let rows = app.web().store.conversation_figures(agent, period, CONVERSATIONS_SHOWN).await?;
    let listed = rows.iter().map(|row| (row.conversation.clone(), calls_of(&row.conversation, events)));
    let mut words = app.web().opening_words.of(listed.collect()).await;
    let line = |row: ConversationRow| ConversationLine {
        words: words.remove(&row.conversation).map(|words| plain(&words)),
        name: cut(&row.conversation, CONVERSATION_LENGTH),
        key: row.conversation,
        began: Moment::new(row.first_hour, now),
        calls: row.totals.requests.into(),
        errors: row.totals.errors.into(),
        cost: Money::spent(&row.totals),
    };
    Ok(rows.into_iter().map(line).collect())
}

/// The oldest and the newest call of a conversation among `events`, which come newest first. The
/// oldest may have the first message, which later calls may omit.
fn calls_of(conversation: &str, events: &[EventRow]) -> Vec<CallId> {
    let is_of_it = |row: &&EventRow| row.event.conversation.as_deref() == Some(conversation);
    let newest = events.iter().find(is_of_it);
    let oldest = events.iter().rev().find(is_of_it);
    oldest.into_iter().chain(newest).map(|row| row.event.id).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use model::{BlockReason, CallId, Epoch, Event};

    use super::*;

    #[test]
    fn refusals_that_follow_each_other_are_one_row() {
        let row = |event_type, reason: Option<BlockReason>, count| {
            let agent = AgentId::parse(if count == 5 { "b" } else { "a" }).unwrap();
            let mut event = Event::new(CallId::new(), agent, Epoch::default(), event_type, Timestamp::default());
            event.block_reason = reason;
            EventRow { event, count, prompt: None }
        };
        let (inactive, spent) = (Some(BlockReason::Inactive), Some(BlockReason::BudgetExceeded));
        let events = vec![
            row(EventType::Blocked, inactive, 40),
            row(EventType::Blocked, inactive, 60),
            row(EventType::Blocked, spent, 2),
            row(EventType::LlmCall, None, 1),
            row(EventType::LlmCall, None, 1),
            row(EventType::Blocked, inactive, 3),
            row(EventType::Blocked, inactive, 5),
        ];
        let counts: Vec<u64> = fold_refusals(events).iter().map(|row| row.count).collect();
        assert_eq!(counts, [100, 2, 1, 1, 3, 5]);
    }
}
