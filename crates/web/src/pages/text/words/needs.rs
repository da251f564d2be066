//! The things that need a person, in words: the headline and its lines.

use store::{AgentCounts, Totals};

use super::refusal;
use crate::pages::needs::{Cause, Loss, NeedCounts, STOPPED_READ};

pub(in crate::pages) const SEE_AGENT: &str = "See the agent";
pub(in crate::pages) const SEE_INCIDENT: &str = "See the incident";
pub(in crate::pages) const SEE_REQUESTS: &str = "See its requests";
pub(in crate::pages) const SEE_BUDGET: &str = "Change its budget";
pub(in crate::pages) const SEE_ALERTS: &str = "See the alerts";
pub(in crate::pages) const ACTIVATE: &str = "Activate";
pub(in crate::pages) const ACTIVATION: &str =
    "The window is cleared and calls go through again. If the cause is still there, it will loop again.";
pub(in crate::pages) const TEST: &str = "Send a test";
pub(in crate::pages) const SERVER: &str = "This server";
pub(in crate::pages) const SEE_SERVER: &str = "See the server";
pub(in crate::pages) const KILLS: &str = "Kills";
pub(in crate::pages) const UNTOLD: &str = "reach no one until a channel is on and delivers.";
pub(in crate::pages) const SET_ALERTS: &str = "Say who is told";
pub(in crate::pages) const SEE_REPLICAS: &str = "See the replicas";
pub(in crate::pages) const ALONE: &str = "decides alone: this replica cannot reach the engine that all of them share. Calls go through and kills hold here, \
     but a loop that is spread over replicas scores lower.";
pub(in crate::pages) const SPENT: &str = "has spent its budget: its calls are refused.";
pub(in crate::pages) const SPENT_GROUP: &str = "has spent its budget: the calls of its agents are refused.";
pub(in crate::pages) const SEE_GROUP: &str = "See the group";

pub(in crate::pages) const SEE_AGENTS: &str = "See all of them";
/// The words for one further agent, and for several.
pub(in crate::pages) const MORE_UNGUARDED: (&str, &str) =
    ("is looping and nothing stops it.", "are looping and nothing stops them.");
pub(in crate::pages) const MORE_STOPPED: (&str, &str) =
    ("is stopped by the kill switch.", "are stopped by the kill switch.");
pub(in crate::pages) const MORE_FAILING: (&str, &str) =
    ("fails or is refused most of the time.", "fail or are refused most of the time.");
pub(in crate::pages) const MORE_SPENT: (&str, &str) = ("has spent its budget.", "have spent their budgets.");

pub(in crate::pages) fn more_agents(count: u64) -> String {
    format!("{count} more {}", plural(count, "agent"))
}

/// The sentences of the headline, the most urgent first.
pub(in crate::pages) fn summary(counts: &NeedCounts) -> Vec<String> {
    let AgentCounts { all, inactive, stopped } = counts.agents;
    let mut sentences = Vec::new();
    if counts.not_recording {
        sentences.push("Nothing is recorded.".to_owned());
    }
    if counts.silent_replicas > 0 {
        sentences.push(format!("{} silent.", subject(counts.silent_replicas, "replica", ("is", "are"))));
    }
    if counts.lone_replicas > 0 {
        sentences.push(format!("{} alone.", subject(counts.lone_replicas, "replica", ("decides", "decide"))));
    }
    if counts.unguarded > 0 {
        sentences.push(format!("{} unguarded.", subject(counts.unguarded, "agent", ("loops", "loop"))));
    }
    if stopped > 0 {
        sentences.push(format!("{stopped} of {all} {} {} stopped.", plural(all, "agent"), are(stopped)));
    }
    if counts.failing > 0 {
        let agents = plural(counts.failing as u64, "agent");
        sentences.push(format!("Most calls of {} {agents} fail or are refused.", counts.failing));
    }
    if counts.spent > 0 {
        sentences.push(format!("{} spent.", subject(counts.spent, "budget", ("is", "are"))));
    }
    if counts.channels > 0 {
        sentences.push(format!("{}.", subject(counts.channels, "channel", ("fails", "fail"))));
    }
    if counts.untold > 0 {
        // Further incidents were not checked.
        let least = if stopped > STOPPED_READ.into() { "at least " } else { "" };
        sentences.push(format!(
            "No one was told of {least}{} {}.",
            counts.untold,
            plural(counts.untold as u64, "kill")
        ));
    }
    if !sentences.is_empty() {
        return sentences;
    }
    if all == 0 {
        return vec!["No agents yet.".to_owned()];
    }
    sentences.push("Nothing needs you.".to_owned());
    if inactive > 0 {
        sentences.push(format!("{inactive} of {all} {} {} inactive.", plural(all, "agent"), are(inactive)));
    }
    sentences
}

/// Why nothing stops the loop, with the kill switch on or off.
pub(in crate::pages) fn unguarded(enabled: bool) -> String {
    let why = if enabled { "only observes" } else { "is off" };
    format!("is looping and nothing stops it: its kill switch {why}.")
}

/// What guards such an agent, with the kill switch on or off.
pub(in crate::pages) fn guard(enabled: bool) -> &'static str {
    if enabled { "Let its kill switch stop it" } else { "Turn its kill switch on" }
}

pub(in crate::pages) fn stopped(is_untold: bool) -> String {
    let told = if is_untold { " No one was told." } else { "" };
    format!("is stopped by the kill switch.{told}")
}

/// Why nothing is recorded, and what still works.
pub(in crate::pages) fn not_recording(trouble: &str) -> String {
    let trouble = trouble.trim_end_matches('.');
    format!("records nothing: {trouble}. Calls still go through and kills still hold.")
}

/// The outcome of most calls of such an agent, in short.
pub(in crate::pages) fn mostly(loss: Loss) -> &'static str {
    match loss {
        Loss::Failed => "Most calls fail",
        Loss::Refused => "Most calls are refused",
    }
}

/// A group as the subject of a sentence.
pub(in crate::pages) fn group(name: &str) -> String {
    format!("The group {name}")
}

/// How many calls failed or were refused, and why the newest of them did.
pub(in crate::pages) fn failing(totals: &Totals, cause: &Cause) -> String {
    let calls = totals.requests + totals.blocked;
    let lost = totals.errors + totals.blocked;
    let sentence = format!("made {calls} calls in this hour and the last: {lost} failed or were refused.");
    match cause {
        Cause::Unknown => sentence,
        Cause::Refusal(reason) => format!("{sentence} Newest refusal: {}.", refusal(*reason)),
        Cause::Error { status, error } => {
            let error = error.as_deref().map(|error| error.trim_end_matches('.').to_owned());
            let parts: Vec<_> = status.map(|status| status.to_string()).into_iter().chain(error).collect();
            if parts.is_empty() { sentence } else { format!("{sentence} Newest error: {}.", parts.join(", ")) }
        }
    }
}

/// A replica whose last report was at this time.
pub(in crate::pages) fn silent(since: &str) -> String {
    format!("is silent: this replica was last heard of {since}.")
}

pub(in crate::pages) fn channel(why: &str) -> String {
    let why = why.trim_end_matches('.');
    if why.is_empty() { "does not deliver.".to_owned() } else { format!("does not deliver: {why}.") }
}

fn subject(count: usize, noun: &str, (one, many): (&str, &str)) -> String {
    format!("{count} {} {}", plural(count as u64, noun), if count == 1 { one } else { many })
}

fn plural(count: u64, noun: &str) -> String {
    if count == 1 { noun.to_owned() } else { format!("{noun}s") }
}

fn are(count: u64) -> &'static str {
    if count == 1 { "is" } else { "are" }
}

#[cfg(test)]
mod tests {
    use model::BlockReason;

    use super::*;

    #[test]
    fn failing_agent_says_why_its_newest_call_was_lost() {
        let totals = Totals { requests: 12, errors: 9, blocked: 1, ..Totals::default() };
        let check = |cause, expected: &str| {
            assert_eq!(
                failing(&totals, &cause),
                format!("made 13 calls in this hour and the last: 10 failed or were refused.{expected}")
            );
        };
        let error = |status, error: Option<&str>| Cause::Error { status, error: error.map(str::to_owned) };
        check(Cause::Unknown, "");
        check(error(None, None), "");
        check(error(Some(500), None), " Newest error: 500.");
        check(error(Some(401), Some("Incorrect API key.")), " Newest error: 401, Incorrect API key.");
        check(error(None, Some("the provider went silent")), " Newest error: the provider went silent.");
        check(Cause::Refusal(BlockReason::OutsideHours), " Newest refusal: outside allowed hours.");
    }

    #[test]
    fn headline_counts_what_needs_someone() {
        let agents = |all, inactive, stopped| AgentCounts { all, inactive, stopped };
        let none = NeedCounts::default;
        for (counts, expected) in [
            (none(), "No agents yet."),
            (NeedCounts { agents: agents(3, 0, 0), ..none() }, "Nothing needs you."),
            (NeedCounts { agents: agents(3, 1, 0), ..none() }, "Nothing needs you. 1 of 3 agents is inactive."),
            (NeedCounts { agents: agents(3, 2, 2), ..none() }, "2 of 3 agents are stopped."),
            (NeedCounts { agents: agents(1, 1, 1), ..none() }, "1 of 1 agent is stopped."),
            (NeedCounts { agents: agents(1, 0, 0), unguarded: 1, ..none() }, "1 agent loops unguarded."),
            (
                NeedCounts { agents: agents(9, 0, 0), failing: 1, spent: 2, channels: 1, ..none() },
                "Most calls of 1 agent fail or are refused. 2 budgets are spent. 1 channel fails.",
            ),
            (
                NeedCounts { agents: agents(2, 1, 1), untold: 1, not_recording: true, ..none() },
                "Nothing is recorded. 1 of 2 agents is stopped. No one was told of 1 kill.",
            ),
            (
                NeedCounts { agents: agents(2, 0, 0), silent_replicas: 1, lone_replicas: 2, ..none() },
                "1 replica is silent. 2 replicas decide alone.",
            ),
            (
                NeedCounts { agents: agents(50, 40, 40), untold: 20, ..none() },
                "40 of 50 agents are stopped. No one was told of at least 20 kills.",
            ),
        ] {
            assert_eq!(summary(&counts).join(" "), expected);
            assert_eq!(counts.is_alarming(), !expected.starts_with('N') || counts.not_recording, "{expected}");
        }
    }
}
