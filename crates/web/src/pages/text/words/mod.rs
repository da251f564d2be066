//! All words that page code puts on a page: here, or by what they are about in `words/`. All others
//! stand in `templates/` and, for the scripts, in `static/words.js`; a test of the pages keeps it
//! so.

pub(in crate::pages) mod alerts;
pub(in crate::pages) mod drill;
pub(in crate::pages) mod groups;
pub(in crate::pages) mod incident;
pub(in crate::pages) mod keys;
pub(in crate::pages) mod labels;
pub(in crate::pages) mod log;
pub(in crate::pages) mod needs;
pub(in crate::pages) mod people;
pub(in crate::pages) mod policy;
pub(in crate::pages) mod problem;
pub(in crate::pages) mod search;
pub(in crate::pages) mod snippets;
pub(in crate::pages) mod units;

use model::{Action, BlockReason, Counting, DeactivatedBy, EventType, Unread, Unscored};

use crate::api::Signals;
use crate::api::agents::AgentView;
use crate::pages::frame::Theme;

/// The state of an agent: its word and its colour.
pub(in crate::pages) fn state(agent: &AgentView) -> (&'static str, &'static str) {
    match (agent.active, agent.deactivated_by) {
        (true, _) => ("Active", "active"),
        (false, Some(DeactivatedBy::KillSwitch)) => ("Deactivated by Kill Switch", "killed"),
        (false, _) => ("Inactive", "inactive"),
    }
}

/// The action of a kill switch, in short.
pub(in crate::pages) fn switch(enabled: bool, action: Action) -> &'static str {
    match action {
        _ if !enabled => "off",
        Action::Deactivate => "on",
        Action::Block => "blocks",
        Action::Observe => "observes",
    }
}

/// The result of a test mail: its word and its tone.
pub(in crate::pages) fn test_mail(delivered: bool) -> (&'static str, &'static str) {
    if delivered { ("Delivered", "green") } else { ("Failed", "red") }
}

/// The limits on the age and size of recorded calls.
pub(in crate::pages) fn recording_limits(keep: std::time::Duration, max_size: u64) -> String {
    let hours = keep.as_secs() / 3600;
    let long = match (hours / 24, hours) {
        (0, 1) => "1 hour".to_owned(),
        (0, hours) => format!("{hours} hours"),
        (1, _) => "1 day".to_owned(),
        (days, _) => format!("{days} days"),
    };
    format!("for {long} and up to {} for all agents together", units::bytes(max_size))
}

/// Why calls were not scored.
pub(in crate::pages) fn unscored(reason: Unscored) -> &'static str {
    match reason {
        Unscored::NoConversation => "no conversation in them: models, embeddings, files, token counts",
        Unscored::Housekeeping => "the client's own housekeeping",
        Unscored::Threads => "threads and runs, whose conversation only the provider knows",
        Unscored::Batch => "batches",
        Unscored::Unread(unread) => match unread {
            Unread::UnknownEncoding => "compressed in a way that is not read",
            Unread::Undecodable => "their compression is damaged",
            Unread::TooLarge => "too large to be read once decompressed",
            Unread::NotUtf8 => "not UTF-8 or UTF-16",
            Unread::InvalidJson => "not valid JSON",
            Unread::TooDeep => "nested too deeply",
            Unread::NotAnObject => "not a JSON object",
            Unread::NoMessages => "no messages found in them",
        },
        Unscored::DetectionFailed => "detection failed",
    }
}

/// The signals of a score in words: `It asked the same thing 6 times and got the same answer 5
/// times.` Tool calls need not be equal to count: those that go round or search in vain do, too.
pub(in crate::pages) fn why(signals: &Signals) -> String {
    // A signal counts earlier calls; the current one makes one more.
    let again = |what: &str, count: u32| (count > 0).then(|| format!("{what} {} times", count + 1));
    let repeats = match signals.repeated_tool_calls.count {
        0 => None,
        1 => Some("repeated a tool call once".to_owned()),
        count => Some(format!("repeated its tool calls {count} times")),
    };
    let parts = [
        again("asked the same thing", signals.similar_prompts.count),
        again("got the same answer", signals.similar_responses.count),
        repeats,
    ];
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    match parts.as_slice() {
        [] => "Nothing repeats.".to_owned(),
        [only] => format!("It {only}."),
        [first @ .., last] => format!("It {} and {last}.", first.join(", ")),
    }
}

/// The name of a theme.
pub(in crate::pages) fn theme(theme: Theme) -> &'static str {
    match theme {
        Theme::System => "system",
        Theme::Light => "light",
        Theme::Dark => "dark",
    }
}

/// The action when the kill switch fires.
pub(in crate::pages) fn action(action: Action) -> &'static str {
    match action {
        Action::Deactivate => "Deactivate",
        Action::Block => "Block",
        Action::Observe => "Observe",
    }
}

pub(in crate::pages) fn counting(counting: Counting) -> &'static str {
    match counting {
        Counting::Adaptive => "Adaptive",
        Counting::Literal => "Literal",
    }
}

pub(in crate::pages) fn event(event_type: EventType) -> &'static str {
    match event_type {
        EventType::LlmCall => "Call",
        EventType::Blocked => "Refused",
        EventType::KillSwitch => "Kill",
        EventType::AgentActivated => "Activated",
        EventType::AgentDeactivated => "Deactivated",
    }
}

/// Why a call was refused.
pub(in crate::pages) fn refusal(reason: BlockReason) -> &'static str {
    match reason {
        BlockReason::Inactive => "agent inactive",
        BlockReason::LoopDetected => "loop detected",
        BlockReason::OutsideHours => "outside allowed hours",
        BlockReason::RateLimited => "too many calls",
        BlockReason::BudgetExceeded => "budget spent",
        BlockReason::Unauthorized => "agent key missing or wrong",
    }
}

/// Names in one line, as forms take them.
pub(in crate::pages) fn joined(names: &[impl ToString]) -> String {
    names.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// The notice of an action, by the word with which the action redirects back.
pub(in crate::pages) fn notice(word: &str) -> Option<&'static str> {
    Some(match word {
        "activated" => "Active again. Its windows are empty.",
        "deactivated" => "Inactive. Its calls are refused until you activate it.",
        "saved" => "Saved. It takes effect with the next call.",
        "saved-off" => "Saved. It stops nothing until the kill switch is on.",
        "switched-on" => "The kill switch is on, from the next call.",
        "switched-off" => "The kill switch is off: nothing is stopped.",
        "all-on" => "The kill switch of every selected agent is on, from its next call.",
        "all-off" => "The kill switch of every selected agent is off: nothing stops them.",
        "all-activated" => "Every selected agent is active again, with empty windows.",
        "none-selected" => "No agent was selected. Nothing was changed.",
        "reset" => "It has the default policy again, from the next call on.",
        "recorded" => "Its requests and responses are recorded from now on.",
        "not-recorded" => "Nothing more is recorded. What was recorded stays until it is too old.",
        "renamed" => "The name is saved.",
        "labelled" => "The labels are saved. They hold from the next call.",
        "deleted" => "It is deleted.",
        "thanks" => "Thank you. Your answer is kept with the incident.",
        "exempted" => "It no longer counts, from the next call on. The agent stays as it is.",
        "revoked" => "It counts again, from the next call on.",
        "provider" => "The provider is saved. The next call uses it.",
        "mail" => "Saved. The next mail goes through this server.",
        "alerts" => "Saved.",
        "channel-on" => "The channel is on.",
        "channel-off" => "The channel is off: nothing goes through it.",
        "rule-on" => "The rule is on.",
        "rule-off" => "The rule is off: it sends no alerts.",
        "settings" => "Saved. It applies to the next new agent, and the next time old records are deleted.",
        "as-configured" => "Everything is as configured again.",
        "group" => "The group is saved. It holds from the next call.",
        "group-stopped" => {
            "The group is stopped. Calls of its agents, also of new ones, are refused until you activate it."
        }
        "group-activated" => "Its agents are active, with empty windows.",
        "group-deleted" => "The group is deleted. Its agents stay as they are.",
        "key-revoked" => "The key is revoked. The next call with it is refused.",
        "retried" => "It is being tried again now.",
        "user-added" => "The user is added and may log in.",
        "user-changed" => "Saved. If the role or the password changed, the user is logged out everywhere.",
        "token-revoked" => "The token is revoked. It is refused from now on.",
        "password-changed" => "Your password is changed. Your other sessions have ended.",
        "session-ended" => "The session has ended. Its browser has to log in again.",
        "provider-removed" => "What was stored for the provider is gone, including its key.",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use model::SignalCounts;

    use super::*;

    #[test]
    fn signals_are_described_in_words() {
        let check = |(similar_prompts, similar_responses, repeated_tool_calls), expected: &str| {
            let counts = SignalCounts { similar_prompts, similar_responses, repeated_tool_calls };
            assert_eq!(why(&counts.into()), expected);
        };
        check((0, 0, 0), "Nothing repeats.");
        check((5, 0, 0), "It asked the same thing 6 times.");
        check((5, 4, 0), "It asked the same thing 6 times and got the same answer 5 times.");
        check(
            (1, 2, 3),
            "It asked the same thing 2 times, got the same answer 3 times and repeated its tool calls 3 times.",
        );
        check((0, 0, 1), "It repeated a tool call once.");
    }
}
