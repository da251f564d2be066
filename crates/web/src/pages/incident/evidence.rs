//! The calls that made the score: the beginning of what was asked and answered, with what repeats and what changed told
//! apart. Whole bodies are a link away, since they may be as long as a book.

use model::{IncidentState, Matched, Timestamp};
use store::EvidenceHead;

use super::timeline::Timeline;
use crate::api::incidents::IncidentView;
use crate::app::App;
use crate::pages::marks::{self, Run};
use crate::pages::number::{Count, Moment};
use crate::pages::plain::plain;
use crate::pages::words::incident as words;
use crate::problem::Problem;

/// All texts of a page together have about this many characters, so that it stays small however many calls there are.
const PAGE_CHARACTERS: u64 = 40_000;
/// One text has at most, and at least, this many.
const MOST: u64 = 4_000;
const LEAST: u64 = 120;

/// One call of the evidence.
pub(super) struct EvidenceLine {
    pub(super) number: usize,
    pub(super) call: String,
    pub(super) at: Option<Moment>,
    pub(super) matched: String,
    pub(super) is_trigger: bool,
    pub(super) tool_calls: Option<String>,
    pub(super) request: Option<Vec<Run>>,
    pub(super) response: Option<Vec<Run>>,
    pub(super) request_chars: Option<Count>,
    pub(super) response_chars: Option<Count>,
    pub(super) truncated: bool,
}

/// The evidence, its texts cut to what fits on the page.
pub(super) async fn read(app: &App, incident: &IncidentView) -> Result<Vec<EvidenceHead>, Problem> {
    let share = PAGE_CHARACTERS / (2 * incident.evidence_count.max(1));
    let characters = u32::try_from(share.clamp(LEAST, MOST)).unwrap_or_default();
    Ok(app.web().store.evidence_heads(incident.id, characters).await?)
}

/// The lines of the page. Every prompt is compared with that of the call that was stopped, every response with the newest.
///
/// A call has the number that it has in the window.
pub(super) fn lines(
    heads: Vec<EvidenceHead>,
    timeline: &Timeline,
    state: IncidentState,
    now: Timestamp,
) -> Vec<EvidenceLine> {
    let prompts: Vec<_> = heads.iter().map(|head| head.prompt.as_deref().map(plain)).collect();
    let responses: Vec<_> = heads.iter().map(|head| head.response.as_deref().map(plain)).collect();
    let line = |(index, head): (usize, EvidenceHead)| EvidenceLine {
        number: timeline.number_of(head.call).unwrap_or(index + 1),
        call: head.call.to_string(),
        at: head.time.map(|time| Moment::new(time, now)),
        matched: why(&head, timeline, state),
        is_trigger: head.matched.contains(&Matched::Trigger),
        tool_calls: head.tool_calls.as_deref().map(plain),
        request: marked(&prompts, index),
        response: marked(&responses, index),
        request_chars: head.request_chars.map(Count::from),
        response_chars: head.response_chars.map(Count::from),
        truncated: head.truncated,
    };
    heads.into_iter().enumerate().map(line).collect()
}

/// Why a call is here: which later call it is like, by which signal, and how near.
fn why(head: &EvidenceHead, timeline: &Timeline, state: IncidentState) -> String {
    let reason = |matched: &Matched| {
        let likeness = head.alike.iter().find(|likeness| likeness.by == *matched);
        match likeness.and_then(|likeness| Some((timeline.number_of(likeness.with)?, likeness.distance))) {
            Some((call, distance)) => words::likeness(*matched, call, distance),
            // It is what the others are compared with.
            None if *matched == Matched::Response => words::NEWEST_RESPONSE.to_owned(),
            None => words::matched(*matched, state).to_owned(),
        }
    };
    head.matched.iter().map(reason).collect::<Vec<_>>().join(", ")
}

/// The text at `index`, compared with the newest of the others.
fn marked(texts: &[Option<String>], index: usize) -> Option<Vec<Run>> {
    let text = texts[index].as_deref()?;
    let others = texts.iter().enumerate().rev().filter(|(place, _)| *place != index);
    let newest = others.filter_map(|(_, other)| other.as_deref()).next();
    Some(newest.map_or_else(|| marks::alone(text), |other| marks::compare(text, other)))
}
