//! The sentences that pages put together. All other words stand in `templates/` and, for the scripts, in `static/words.js`; no
//! page has any of its own.

pub(super) mod alerts;
pub(super) mod labels;

pub(super) mod policy;

use model::{
    Action, ActivatedBy, BlockReason, Counting, DeactivatedBy, EventType, ExemptKind, IncidentState, Matched,
    WindowKind,
};
use store::AgentCounts;

use crate::api::Signals;
use crate::api::agents::AgentView;
use crate::api::incidents::CycleView;

/// What needs someone, in one sentence.
pub(super) fn summary(counts: AgentCounts) -> String {
    let agents = if counts.all == 1 { "agent" } else { "agents" };
    let are = |count: u64| if count == 1 { "is" } else { "are" };
    let AgentCounts { all, inactive, stopped } = counts;
    match (stopped, inactive) {
        _ if all == 0 => "No agents yet.".to_owned(),
        (0, 0) => "Nothing needs you.".to_owned(),
        (0, inactive) => format!("Nothing needs you. {inactive} of {all} {agents} {} inactive.", are(inactive)),
        (stopped, _) => format!("{stopped} of {all} {agents} {} stopped.", are(stopped)),
    }
}

/// The state of an agent: its word and its colour.
pub(super) fn state(agent: &AgentView) -> (&'static str, &'static str) {
    match (agent.active, agent.deactivated_by) {
        (true, _) => ("Active", "active"),
        (false, Some(DeactivatedBy::KillSwitch)) => ("Deactivated by Kill Switch", "killed"),
        (false, _) => ("Inactive", "inactive"),
    }
}

/// What the signals of a score mean: `It asked the same thing 6 times and got the same answer 5 times.`
pub(super) fn why(signals: &Signals) -> String {
    // A signal counts earlier calls: with the one that they are like, it was one more.
    let parts = [
        ("asked the same thing", signals.similar_prompts.count),
        ("got the same answer", signals.similar_responses.count),
        ("made the same tool calls", signals.repeated_tool_calls.count),
    ];
    let parts = parts.iter().filter(|(_, count)| *count > 0);
    let parts: Vec<_> = parts.map(|(what, count)| format!("{what} {} times", count + 1)).collect();
    match parts.as_slice() {
        [] => "Nothing repeats.".to_owned(),
        [only] => format!("It {only}."),
        [first @ .., last] => format!("It {} and {last}.", first.join(", ")),
    }
}

/// What happens when the kill switch fires.
pub(super) fn action(action: Action) -> &'static str {
    match action {
        Action::Deactivate => "Deactivate",
        Action::Block => "Block",
        Action::Observe => "Observe",
    }
}

pub(super) fn counting(counting: Counting) -> &'static str {
    match counting {
        Counting::Adaptive => "Adaptive",
        Counting::Literal => "Literal",
    }
}

/// Which window fired.
pub(super) fn window(window: WindowKind) -> &'static str {
    match window {
        WindowKind::Agent => "all calls of the agent",
        WindowKind::Conversation => "one conversation",
    }
}

pub(super) fn incident_state(state: IncidentState) -> &'static str {
    match state {
        IncidentState::Open => "Open",
        IncidentState::Closed => "Closed",
        IncidentState::Observed => "Observed",
    }
}

/// What became of the agent.
pub(super) fn incident_story(state: IncidentState) -> &'static str {
    match state {
        IncidentState::Open => "Stopped by the kill switch. It stays inactive until someone activates it.",
        IncidentState::Closed => "Stopped by the kill switch.",
        IncidentState::Observed => "Observed only: its calls went through.",
    }
}

/// Why a call is part of an incident in this state.
pub(super) fn matched(matched: Matched, state: IncidentState) -> &'static str {
    match matched {
        Matched::Prompt => "prompt alike",
        Matched::Response => "response alike",
        Matched::ToolCall => "same tool calls",
        Matched::Trigger => trigger(state),
        Matched::Failed => "failed",
    }
}

/// The call that an incident is about.
pub(super) fn trigger(state: IncidentState) -> &'static str {
    match state {
        IncidentState::Open | IncidentState::Closed => "the call that was stopped",
        IncidentState::Observed => "the call that would have been stopped",
    }
}

/// Which later call one is like: `prompt like that of call 9 (distance 1)`.
pub(super) fn likeness(by: Matched, call: usize, distance: Option<u32>) -> String {
    let what = match by {
        Matched::Prompt => "prompt like that",
        Matched::Response => "response like that",
        _ => "same tool calls as those",
    };
    match distance {
        Some(0) => format!("{what} of call {call} (the same)"),
        Some(distance) => format!("{what} of call {call} (distance {distance})"),
        None => format!("{what} of call {call}"),
    }
}

/// The cycle that a loop went round.
pub(super) fn cycle(cycle: Option<&CycleView>) -> String {
    match cycle {
        None => "No fixed order".to_owned(),
        Some(CycleView { period: 1, laps }) => format!("The same call {laps} times in a row"),
        Some(CycleView { period, laps }) => format!("{period} calls in the same order, {laps} laps"),
    }
}

/// What kind of thing does not count.
pub(super) fn exempt_kind(kind: ExemptKind) -> &'static str {
    match kind {
        ExemptKind::Prompt => "This prompt",
        ExemptKind::ToolCall => "This tool call",
    }
}

/// Whence an agent was activated.
pub(super) fn activated_by(by: ActivatedBy) -> &'static str {
    match by {
        ActivatedBy::Dashboard => "from the dashboard",
        ActivatedBy::Api => "by the API",
        ActivatedBy::CommandLine => "from the command line",
    }
}

pub(super) fn event(event_type: EventType) -> &'static str {
    match event_type {
        EventType::LlmCall => "Call",
        EventType::Blocked => "Refused",
        EventType::KillSwitch => "Kill",
        EventType::AgentActivated => "Activated",
        EventType::AgentDeactivated => "Deactivated",
    }
}

/// Why a call was refused.
pub(super) fn refusal(reason: BlockReason) -> &'static str {
    match reason {
        BlockReason::Inactive => "agent inactive",
        BlockReason::LoopDetected => "loop detected",
        BlockReason::OutsideHours => "outside allowed hours",
        BlockReason::RateLimited => "too many calls",
        BlockReason::BudgetExceeded => "budget spent",
    }
}

/// What was just done, for the word that an action leads back with.
pub(super) fn done(word: &str) -> Option<&'static str> {
    Some(match word {
        "activated" => "Active again. Its windows are empty.",
        "deactivated" => "Inactive. Its calls are refused until you activate it.",
        "saved" => "Saved. It holds from the next call.",
        "reset" => "It has the default policy again. That holds from the next call.",
        "renamed" => "The name is saved.",
        "deleted" => "It is deleted.",
        "thanks" => "Thank you. Your answer is kept with the incident.",
        "exempted" => "It is not counted any more, from the next call on. The agent stays as it is.",
        "revoked" => "It counts again, from the next call on.",
        "provider" => "The provider is saved. The next call uses it.",
        "alerts" => "Saved.",
        "channel-on" => "The channel is on.",
        "channel-off" => "The channel is off: nothing goes through it.",
        "rule-on" => "The rule is on.",
        "rule-off" => "The rule is off: it tells nobody.",
        "settings" => "Saved. It holds for the next new agent and the next time old things are deleted.",
        "as-configured" => "All of it is as configured again.",
        "retried" => "It is tried again now.",
        "provider-removed" => "What was stored of the provider is gone, its key with it.",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use model::SignalCounts;

    use super::*;

    #[test]
    fn the_top_of_the_page_answers_in_words() {
        let check = |stopped, inactive, all, expected: &str| {
            assert_eq!(summary(AgentCounts { all, inactive, stopped }), expected);
        };
        check(0, 0, 0, "No agents yet.");
        check(0, 0, 3, "Nothing needs you.");
        check(2, 2, 3, "2 of 3 agents are stopped.");
        check(1, 1, 1, "1 of 1 agent is stopped.");
        check(0, 1, 3, "Nothing needs you. 1 of 3 agents is inactive.");
    }

    #[test]
    fn signals_are_told_in_words() {
        let check = |(similar_prompts, similar_responses, repeated_tool_calls), expected: &str| {
            let counts = SignalCounts { similar_prompts, similar_responses, repeated_tool_calls };
            assert_eq!(why(&counts.into()), expected);
        };
        check((0, 0, 0), "Nothing repeats.");
        check((5, 0, 0), "It asked the same thing 6 times.");
        check((5, 4, 0), "It asked the same thing 6 times and got the same answer 5 times.");
        check(
            (1, 2, 3),
            "It asked the same thing 2 times, got the same answer 3 times and made the same tool calls 4 times.",
        );
    }
}
