//! The window as a row of calls, with the matches and the stopped call marked, and lines that join
//! the matches.

use std::collections::HashMap;

use model::{CallId, IncidentState, Matched};
use store::EvidenceHead;

use crate::api::incidents::IncidentView;
use crate::app::App;
use crate::pages::words::incident as words;
use crate::problem::Problem;

/// The distance between two calls, and the height of the row.
const STEP: usize = 24;
const ROW: usize = 44;

/// The row, ready to be drawn.
pub(super) struct Timeline {
    pub(super) calls: Vec<Dot>,
    pub(super) arcs: Vec<Arc>,
    pub(super) width: usize,
}

impl Timeline {
    /// The position of a call in the window.
    pub(super) fn number_of(&self, call: CallId) -> Option<usize> {
        let call = call.to_string();
        self.calls.iter().find(|dot| dot.call == call).map(|dot| dot.number)
    }

    /// The call right before `call` in the window, with its number.
    pub(super) fn call_before(&self, call: CallId) -> Option<(usize, CallId)> {
        let number = self.number_of(call)?;
        let before = self.calls.get(number.checked_sub(2)?)?;
        Some((before.number, CallId::parse(&before.call)?))
    }
}

/// One call.
pub(super) struct Dot {
    pub(super) x: usize,
    pub(super) number: usize,
    pub(super) call: String,
    /// `matched`, `trigger` or `other`.
    pub(super) kind: &'static str,
    pub(super) title: String,
}

/// A line from one match to the next.
pub(super) struct Arc {
    pub(super) path: String,
}

/// The window that ended with `trigger`; only the evidence, if the events are no longer kept.
pub(super) async fn read(
    app: &App,
    incident: &IncidentView,
    trigger: Option<CallId>,
    evidence: &[EvidenceHead],
) -> Result<Timeline, Problem> {
    let kept = match trigger {
        Some(trigger) => app.web().store.window(trigger, incident.window, incident.window_size).await?,
        None => Vec::new(),
    };
    let mut calls: Vec<CallId> = kept.into_iter().map(|call| call.call).collect();
    if calls.len() < evidence.len() {
        calls = evidence.iter().map(|head| head.call).collect();
    }
    Ok(draw(&calls, evidence, incident.state))
}

fn draw(calls: &[CallId], evidence: &[EvidenceHead], state: IncidentState) -> Timeline {
    let matched: HashMap<CallId, &[Matched]> =
        evidence.iter().map(|head| (head.call, head.matched.as_slice())).collect();
    let dots: Vec<Dot> =
        calls.iter().enumerate().map(|(index, call)| dot(index, *call, matched.get(call), state)).collect();
    let joined: Vec<usize> = dots.iter().filter(|dot| dot.kind != "other").map(|dot| dot.x).collect();
    Timeline {
        arcs: joined.windows(2).map(|pair| arc(pair[0], pair[1])).collect(),
        width: calls.len() * STEP + STEP,
        calls: dots,
    }
}

fn dot(index: usize, call: CallId, matched: Option<&&[Matched]>, state: IncidentState) -> Dot {
    let matched = matched.copied().unwrap_or_default();
    let is_alike = |reason: &Matched| matches!(reason, Matched::Prompt | Matched::Response | Matched::ToolCall);
    let kind = match matched {
        reasons if reasons.contains(&Matched::Trigger) => "trigger",
        reasons if reasons.iter().any(is_alike) => "matched",
        _ => "other",
    };
    let reasons: Vec<_> = matched.iter().map(|reason| words::matched(*reason, state)).collect();
    let title = if reasons.is_empty() { words::NOT_ALIKE.to_owned() } else { reasons.join(", ") };
    Dot { x: STEP + index * STEP, number: index + 1, call: call.to_string(), kind, title }
}

fn arc(from: usize, to: usize) -> Arc {
    let height = ROW.saturating_sub((to - from).min(36)).max(6);
    Arc { path: format!("M{from} {ROW} Q{} {height} {to} {ROW}", (from + to) / 2) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(call: CallId, matched: &[Matched]) -> EvidenceHead {
        EvidenceHead {
            call,
            time: None,
            matched: matched.to_vec(),
            alike: Vec::new(),
            tool_calls: None,
            tool_results: None,
            prompt: None,
            response: None,
            lengths: Default::default(),
            request_chars: None,
            response_chars: None,
            truncated: true,
            missing: None,
        }
    }

    #[test]
    fn matches_are_joined_and_the_others_are_not() {
        let calls: Vec<CallId> = (0..4).map(|_| CallId::new()).collect();
        let evidence = [
            head(calls[0], &[Matched::Prompt, Matched::Response]),
            head(calls[2], &[Matched::Failed]),
            head(calls[3], &[Matched::Trigger]),
        ];
        let timeline = draw(&calls, &evidence, IncidentState::Observed);
        let kinds: Vec<_> = timeline.calls.iter().map(|dot| dot.kind).collect();
        assert_eq!(kinds, ["matched", "other", "other", "trigger"]);
        let paths: Vec<_> = timeline.arcs.iter().map(|arc| arc.path.as_str()).collect();
        assert_eq!(paths, ["M24 44 Q60 8 96 44"]);
        assert_eq!(timeline.calls[0].title, "similar prompt, similar response");
        assert_eq!(timeline.calls[3].title, "the call that would have been stopped");
    }
}
