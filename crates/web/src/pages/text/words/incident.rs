//! The words for an incident, its evidence, and the remedies for a false alarm.

use model::{ActivatedBy, ExemptKind, IncidentState, Matched, MissingBodies, WindowKind};

use crate::api::incidents::CycleView;
use crate::pages::number::grouped;

/// The fields of an incident.
pub(in crate::pages) mod setting {
    pub(in crate::pages) const PROVIDER: &str = "Provider";
    pub(in crate::pages) const MODEL: &str = "Model";
    pub(in crate::pages) const CONVERSATION: &str = "Conversation";
    pub(in crate::pages) const WINDOW: &str = "Window";
    pub(in crate::pages) const THRESHOLD: &str = "Threshold";
    pub(in crate::pages) const ACTION: &str = "When it fires";
    pub(in crate::pages) const COUNTING: &str = "Counting";
}

/// The texts of a call.
pub(in crate::pages) mod part {
    pub(in crate::pages) const TOOL_CALLS: &str = "Tool calls";
    pub(in crate::pages) const RESULT: &str = "Result of the tool calls";
    pub(in crate::pages) const PROMPT: &str = "Prompt";
    pub(in crate::pages) const RESPONSE: &str = "Response";
}

/// The time between a call and the one before it: `4.2 s after call 8`.
pub(in crate::pages) fn gap(span: &str, call: usize) -> String {
    format!("{span} after call {call}")
}

/// How much of a text is shown; `all` is the length of the whole, if that is longer.
pub(in crate::pages) fn characters(shown: &str, all: Option<&str>, is_one: bool) -> String {
    match all {
        Some(all) => format!("the first {shown} of {all} characters"),
        None if is_one => format!("{shown} character"),
        None => format!("{shown} characters"),
    }
}

/// Why the bodies of a call are missing.
pub(in crate::pages) fn missing(missing: MissingBodies) -> &'static str {
    match missing {
        MissingBodies::Restart => {
            "Its request and response are missing: they were in memory only, and the server was restarted since."
        }
        MissingBodies::Budget => {
            "Its request and response are missing: they no longer fitted into the memory for evidence (evidence_budget)."
        }
    }
}

/// The reason for incidents of versions that did not record it.
pub(in crate::pages) const NOT_IN_MEMORY: &str = "Its request and response are missing: they were no longer in memory.";

/// A body of which only the beginning was kept.
pub(in crate::pages) const CUT: &str = "Its response was too long: only the beginning was kept.";

/// A whole body that is longer than a page shows.
pub(in crate::pages) fn body_cut(shown: &str) -> String {
    format!("\n\n(The first {shown} characters. Download the body to see all of it.)")
}

/// A call of the window that is similar to no other.
pub(in crate::pages) const NOT_ALIKE: &str = "not similar";

/// Tool calls that count as repeated although they differ from those of the other calls.
pub(in crate::pages) const NOTHING_NEW: &str = "tool calls that bring nothing new";

/// The response that the others are compared with.
pub(in crate::pages) const NEWEST_RESPONSE: &str = "the newest response";

/// The length of the window, and which one fired.
pub(in crate::pages) fn window_of(size: u16, kind: WindowKind) -> String {
    match kind {
        WindowKind::Agent => format!("{size} calls across the whole agent"),
        WindowKind::Conversation => format!("{size} calls of one conversation"),
    }
}

pub(in crate::pages) fn state(state: IncidentState) -> &'static str {
    match state {
        IncidentState::Open => "Open",
        IncidentState::Closed => "Closed",
        IncidentState::Observed => "Observed",
    }
}

/// What happened to the agent.
pub(in crate::pages) fn story(state: IncidentState) -> &'static str {
    match state {
        IncidentState::Open => "Stopped by the kill switch. It stays inactive until someone activates it.",
        IncidentState::Closed => "Stopped by the kill switch.",
        IncidentState::Observed => "Its calls went through: the kill switch only observes.",
    }
}

/// Why a call is part of an incident in this state.
pub(in crate::pages) fn matched(matched: Matched, state: IncidentState) -> &'static str {
    match matched {
        Matched::Prompt => "similar prompt",
        Matched::Response => "similar response",
        Matched::ToolCall => "repeated tool calls",
        Matched::Trigger => trigger(state),
        Matched::Failed => "failed",
    }
}

/// The call that an incident is about.
pub(in crate::pages) fn trigger(state: IncidentState) -> &'static str {
    match state {
        IncidentState::Open | IncidentState::Closed => "the call that was stopped",
        IncidentState::Observed => "the call that would have been stopped",
    }
}

/// Hashes of similar texts differ in fewer bits. Texts at a greater distance count as similar by a
/// rule, and the distance says nothing about it.
const MOST_DISTANT: u32 = 3;

/// The later call that a call is similar to: `prompt similar to call 9 (distance 1)`. At distance 0
/// the texts may still differ in parts that are not compared, such as numbers.
pub(in crate::pages) fn likeness(by: Matched, call: usize, distance: Option<u32>) -> String {
    let what = match by {
        Matched::Prompt => "prompt similar to",
        Matched::Response => "response similar to",
        _ => "same tool calls as",
    };
    match distance {
        Some(distance @ 1..MOST_DISTANT) => format!("{what} call {call} (distance {distance})"),
        _ => format!("{what} call {call}"),
    }
}

/// The cycle of a loop.
pub(in crate::pages) fn cycle(cycle: Option<&CycleView>) -> String {
    match cycle {
        None => "No fixed order".to_owned(),
        Some(CycleView { period: 1, laps }) => format!("The same call {laps} times in a row"),
        Some(CycleView { period, laps }) => format!("{period} calls in the same order, {laps} laps"),
    }
}

/// The kind of an exemption.
pub(in crate::pages) fn exempt_kind(kind: ExemptKind) -> &'static str {
    match kind {
        ExemptKind::Prompt => "This prompt",
        ExemptKind::ToolCall => "This tool call",
    }
}

/// The interface from which an agent was activated.
pub(in crate::pages) fn activated_by(by: ActivatedBy) -> &'static str {
    match by {
        ActivatedBy::Dashboard => "from the dashboard",
        ActivatedBy::Api => "by the API",
        ActivatedBy::CommandLine => "from the command line",
    }
}

/// The text of an exemption that was not kept.
pub(in crate::pages) fn text_not_kept(kind: ExemptKind) -> &'static str {
    match kind {
        ExemptKind::Prompt => "(its text was not kept)",
        ExemptKind::ToolCall => "(its arguments were not kept)",
    }
}

/// The effect that an exemption would have had on the stopped call.
pub(in crate::pages) fn effect(score: f64, threshold: f64, would_have_passed: bool) -> String {
    let fate = if would_have_passed { "it would have gone through" } else { "it would still have been stopped" };
    format!("With this, the call would have scored {score:.1} / {threshold}: {fate}.")
}

/// How many other calls an exemption would let pass.
pub(in crate::pages) fn covers(covered: usize, all: usize) -> String {
    format!("It covers {} of the newest {} calls on record.", grouped(covered as u64), grouped(all as u64))
}

/// The end of an exemption: `2026-12-24 00:00 UTC`.
pub(in crate::pages) fn until(day_and_time: &str) -> String {
    format!("{day_and_time} UTC")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_is_told_only_where_it_makes_texts_similar() {
        let said = |distance| likeness(Matched::Response, 5, distance);
        assert_eq!(said(Some(0)), "response similar to call 5");
        assert_eq!(said(Some(2)), "response similar to call 5 (distance 2)");
        assert_eq!(said(Some(11)), "response similar to call 5", "similar by a rule, not by its hash");
        assert_eq!(likeness(Matched::ToolCall, 5, None), "same tool calls as call 5");
    }
}
