//! The score: how much the newest call of a window looks like the calls before it.

use model::{CallId, Counting, Fingerprint, Matched, Outcome, SignalCounts};

use crate::judge::{Judge, Marks};

/// What the last call of `window` has in common with those before it.
pub(crate) fn signals(window: &[Fingerprint], counting: Counting) -> SignalCounts {
    let Some(judge) = Judge::new(window, counting) else {
        return SignalCounts::default();
    };
    let mut counts = SignalCounts::default();
    for marks in judge.marks() {
        counts.similar_prompts += u32::from(marks.prompt);
        counts.similar_responses += u32::from(marks.response);
        counts.repeated_tool_calls += u32::from(marks.tool_calls);
    }
    counts
}

/// The calls that made the score of the last call of `window`, and why; that call comes last.
pub(crate) fn matches(window: &[Fingerprint], counting: Counting) -> Vec<(CallId, Vec<Matched>)> {
    let (Some(judge), Some((current, all))) = (Judge::new(window, counting), window.split_last()) else {
        return Vec::new();
    };
    let newest = judge.newest_response();
    let marks = judge.marks();
    let mut considered = judge.considered().zip(marks).peekable();
    let mut matches: Vec<(CallId, Vec<Matched>)> = Vec::new();
    for call in all {
        // Calls that a rule leaves out are evidence only if they failed.
        let marks = considered.next_if(|(next, _)| next.call == call.call).map(|(_, marks)| marks);
        let matched = why(call, marks.unwrap_or_default(), newest == Some(call.call));
        if !matched.is_empty() {
            matches.push((call.call, matched));
        }
    }
    matches.push((current.call, vec![Matched::Trigger]));
    matches
}

fn why(call: &Fingerprint, marks: Marks, is_newest: bool) -> Vec<Matched> {
    let reasons = [
        (Matched::Prompt, marks.prompt),
        (Matched::Response, marks.response || is_newest),
        (Matched::ToolCall, marks.tool_calls),
        (Matched::Failed, call.outcome == Outcome::Failed),
    ];
    reasons.into_iter().filter(|(_, holds)| *holds).map(|(matched, _)| matched).collect()
}
