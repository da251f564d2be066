//! Numbers and times the way people read them.

use model::{DeactivatedBy, Timestamp};

use crate::api::agents::AgentView;

/// How long ago `then` was: `3 min ago`.
pub(super) fn ago(then: Timestamp, now: Timestamp) -> String {
    let seconds = now.millis_since(then) / 1000;
    match seconds {
        0..5 => "just now".to_owned(),
        5..60 => format!("{seconds} s ago"),
        60..3_600 => format!("{} min ago", seconds / 60),
        3_600..86_400 => format!("{} h ago", seconds / 3_600),
        _ => format!("{} d ago", seconds / 86_400),
    }
}

/// `1234567` as `1,234,567`.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// What needs someone, in one sentence.
pub(super) fn summary(stopped: usize, inactive: usize, all: usize) -> String {
    let agents = |count: usize| if count == 1 { "agent is" } else { "agents are" };
    match (stopped, inactive, all) {
        (_, _, 0) => "No agents yet.".to_owned(),
        (0, 0, _) => "Nothing needs you.".to_owned(),
        (0, inactive, all) => format!("Nothing needs you. {inactive} of {all} {} inactive.", agents(all)),
        (stopped, _, all) => format!("{stopped} of {all} {} stopped.", agents(all)),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_relative() {
        let then = Timestamp::from_millis(0);
        for (seconds, expected) in
            [(0, "just now"), (12, "12 s ago"), (190, "3 min ago"), (7_300, "2 h ago"), (200_000, "2 d ago")]
        {
            assert_eq!(ago(then, Timestamp::from_millis(seconds * 1000)), expected);
        }
        assert_eq!(ago(Timestamp::from_millis(9_000), then), "just now", "a clock that went back");
    }

    #[test]
    fn the_top_of_the_page_answers_in_words() {
        assert_eq!(summary(0, 0, 0), "No agents yet.");
        assert_eq!(summary(0, 0, 3), "Nothing needs you.");
        assert_eq!(summary(2, 2, 3), "2 of 3 agents are stopped.");
        assert_eq!(summary(1, 1, 1), "1 of 1 agent is stopped.");
        assert_eq!(summary(0, 1, 3), "Nothing needs you. 1 of 3 agents are inactive.");
    }

    #[test]
    fn numbers_are_grouped() {
        for (number, expected) in [(0, "0"), (999, "999"), (1_204, "1,204"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number), expected);
        }
    }
}
