//! The calls that made the score: the beginning of each request, result and answer, with repeated
//! and changed words marked. Whole bodies come on demand, because they may be very long.

use model::{CallId, IncidentState, Matched, Timestamp};
use store::EvidenceHead;

use super::timeline::Timeline;
use crate::api::incidents::IncidentView;
use crate::app::App;
use crate::pages::diff::{self, Run};
use crate::pages::number::{Count, Moment, grouped};
use crate::pages::plain::plain;
use crate::pages::words::incident as words;
use crate::pages::words::units;
use crate::problem::Problem;

/// The texts of a page together have about this many characters, so that it stays small with any
/// number of calls.
const PAGE_CHARACTERS: u64 = 60_000;
/// The texts of one call: its result, its prompt and its response.
const TEXTS: u64 = 3;
/// The most and the fewest characters of one text.
const MOST: u64 = 4_000;
const LEAST: u64 = 120;

/// One call of the evidence.
pub(super) struct EvidenceLine {
    pub(super) number: usize,
    pub(super) call: String,
    pub(super) at: Option<Moment>,
    /// The time since the call before it.
    pub(super) gap: Option<String>,
    pub(super) matched: String,
    pub(super) is_trigger: bool,
    pub(super) tool_calls: Option<String>,
    pub(super) result: Option<Text>,
    pub(super) request: Option<Text>,
    pub(super) response: Option<Text>,
    /// Characters of the whole bodies, if they were kept.
    pub(super) request_chars: Option<Count>,
    pub(super) response_chars: Option<Count>,
    /// What is missing, and why.
    pub(super) missing: Option<&'static str>,
}

/// A text of a call, or its beginning.
pub(super) struct Text {
    pub(super) runs: Vec<Run>,
    /// The part that is shown: `62 characters`.
    pub(super) shown: String,
}

/// The evidence, with its texts cut to fit on the page.
pub(super) async fn read(app: &App, incident: &IncidentView) -> Result<Vec<EvidenceHead>, Problem> {
    let share = PAGE_CHARACTERS / (TEXTS * incident.evidence_count.max(1));
    let characters = u32::try_from(share.clamp(LEAST, MOST)).unwrap_or_default();
    Ok(app.web().store.evidence_heads(incident.id, characters).await?)
}

/// The lines of the page. Every text is compared with the same text of the newest other call.
///
/// A call has the number that it has in the window.
pub(super) fn lines(
    heads: Vec<EvidenceHead>,
    timeline: &Timeline,
    state: IncidentState,
    now: Timestamp,
) -> Vec<EvidenceLine> {
    let texts = |text: fn(&EvidenceHead) -> Option<&str>| -> Vec<Option<String>> {
        heads.iter().map(|head| text(head).map(plain)).collect()
    };
    let results = texts(|head| head.tool_results.as_deref());
    let prompts = texts(|head| head.prompt.as_deref());
    let responses = texts(|head| head.response.as_deref());
    let line = |(index, head): (usize, &EvidenceHead)| EvidenceLine {
        number: timeline.number_of(head.call).unwrap_or(index + 1),
        call: head.call.to_string(),
        at: head.time.or(head.call.time()).map(|time| Moment::new(time, now)),
        gap: gap(head.call, timeline),
        matched: why(index, &heads, timeline, state),
        is_trigger: head.matched.contains(&Matched::Trigger),
        tool_calls: head.tool_calls.as_deref().map(plain),
        result: marked(&results, index, head.lengths.tool_results),
        request: marked(&prompts, index, head.lengths.prompt),
        response: marked(&responses, index, head.lengths.response),
        request_chars: head.request_chars.map(Count::from),
        response_chars: head.response_chars.map(Count::from),
        missing: missing(head),
    };
    heads.iter().enumerate().map(line).collect()
}

/// The time between the call and the one before it in the window.
fn gap(call: CallId, timeline: &Timeline) -> Option<String> {
    let (number, before) = timeline.call_before(call)?;
    let millis = call.time()?.millis_since(before.time()?);
    Some(words::gap(&units::span(millis), number))
}

fn missing(head: &EvidenceHead) -> Option<&'static str> {
    if !head.truncated {
        return None;
    }
    Some(match (head.missing, head.request_chars) {
        (Some(missing), _) => words::missing(missing),
        (None, None) => words::NOT_IN_MEMORY,
        (None, Some(_)) => words::CUT,
    })
}

/// Why a call is part of the evidence: the later call that it is similar to, by which signal, and
/// how near.
fn why(index: usize, heads: &[EvidenceHead], timeline: &Timeline, state: IncidentState) -> String {
    let head = &heads[index];
    let reason = |matched: &Matched| {
        // A call is not like itself: the others are compared with it.
        let likeness = head.alike.iter().find(|likeness| likeness.by == *matched && likeness.with != head.call);
        if *matched == Matched::ToolCall && head.tool_calls.is_some() {
            let same = same_tool_calls(index, heads).and_then(|call| timeline.number_of(call));
            return same.map_or_else(|| words::NOTHING_NEW.to_owned(), |call| words::likeness(*matched, call, None));
        }
        match likeness.and_then(|likeness| Some((timeline.number_of(likeness.with)?, likeness.distance))) {
            Some((call, distance)) => words::likeness(*matched, call, distance),
            // The other calls are compared with this one.
            None if *matched == Matched::Response => words::NEWEST_RESPONSE.to_owned(),
            None => words::matched(*matched, state).to_owned(),
        }
    };
    head.matched.iter().map(reason).collect::<Vec<_>>().join(", ")
}

/// The stopped call, or else the next one, that reports the same tool calls as the call at `index`.
/// Calls of a round count as repeated, too, and then differ from the stopped one.
fn same_tool_calls(index: usize, heads: &[EvidenceHead]) -> Option<CallId> {
    let later = heads.get(index + 1..).unwrap_or_default();
    let is_same = |head: &&EvidenceHead| head.tool_calls == heads[index].tool_calls;
    let same = later.last().filter(is_same).or_else(|| later.iter().find(is_same));
    same.map(|head| head.call)
}

/// The text at `index`, compared with the newest of the others. `length` is the length of the whole
/// text.
fn marked(texts: &[Option<String>], index: usize, length: u64) -> Option<Text> {
    let text = texts[index].as_deref()?;
    let others = texts.iter().enumerate().rev().filter(|(place, _)| *place != index);
    let newest = others.filter_map(|(_, other)| other.as_deref()).next();
    let runs = newest.map_or_else(|| diff::alone(text), |other| diff::compare(text, other));
    Some(Text { runs, shown: shown(text, length) })
}

/// How much of a text with `length` characters is shown in `text`.
pub(super) fn shown(text: &str, length: u64) -> String {
    let here = text.chars().count() as u64;
    words::characters(&grouped(here), (here < length).then(|| grouped(length)).as_deref(), here == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_count_what_is_shown() {
        assert_eq!(shown("äöü", 3), "3 characters");
        assert_eq!(shown("ä", 1), "1 character");
        assert_eq!(shown("äöü", 4_000), "the first 3 of 4,000 characters");
    }
}
