//! The words of the request log.

use model::{BlockReason, EventType};

use super::refusal;
use crate::pages::number::grouped;

/// The part of all matching requests that is on the page.
#[derive(Clone, Copy)]
pub(in crate::pages) enum Part {
    All,
    Newest,
    Older,
}

/// The counts of the page.
#[derive(Clone, Copy)]
pub(in crate::pages) struct Counts {
    pub(in crate::pages) calls: u64,
    pub(in crate::pages) failed: u64,
    pub(in crate::pages) refused: u64,
}

/// `The newest 48 calls: 3 failed. 12 were refused.`
pub(in crate::pages) fn summary(part: Part, counts: Counts) -> String {
    let Counts { calls, failed, refused } = counts;
    let noun = if calls == 1 { "call" } else { "calls" };
    let calls_said = match (part, calls) {
        (_, 0) => None,
        (Part::All, _) => Some(format!("{} {noun}", grouped(calls))),
        (Part::Newest, 1) => Some("The newest call".to_owned()),
        (Part::Newest, _) => Some(format!("The newest {} {noun}", grouped(calls))),
        (Part::Older, _) => Some(format!("{} older {noun}", grouped(calls))),
    };
    let refused_said = match refused {
        0 => None,
        1 => Some("1 was refused.".to_owned()),
        refused => Some(format!("{} were refused.", grouped(refused))),
    };
    match (calls_said, refused_said) {
        (None, None) => "No calls.".to_owned(),
        // The page may show only refused calls, so it does not say that none passed.
        (None, Some(_)) => match part {
            Part::All if refused == 1 => "1 call was refused.".to_owned(),
            Part::All => format!("{} calls were refused.", grouped(refused)),
            Part::Newest => format!("The newest {} refused calls.", grouped(refused)),
            Part::Older => format!("{} older refused calls.", grouped(refused)),
        },
        (Some(calls), refused) => {
            let failed = if failed == 0 { "none failed".to_owned() } else { format!("{} failed", grouped(failed)) };
            [Some(format!("{calls}: {failed}.")), refused].into_iter().flatten().collect::<Vec<_>>().join(" ")
        }
    }
}

/// The action of the agent, before the provider and the model.
pub(in crate::pages) fn story(event_type: EventType) -> &'static str {
    match event_type {
        EventType::LlmCall => "called",
        EventType::Blocked | EventType::KillSwitch => "tried to call",
        EventType::AgentActivated => "was activated",
        EventType::AgentDeactivated => "was deactivated",
    }
}

/// Why a call was not forwarded. A row may stand for several calls.
pub(in crate::pages) fn refused(event_type: EventType, reason: Option<BlockReason>, count: u64) -> Option<String> {
    match (event_type, reason, count) {
        (EventType::KillSwitch, ..) => Some(
            "The kill switch fired at this call: it was refused and never sent, and the agent was stopped.".to_owned(),
        ),
        (EventType::Blocked, reason, count) => {
            let reason = reason.map_or("", refusal);
            Some(match count {
                0 | 1 => format!("It was refused and never sent: {reason}."),
                count => format!("{} calls within a minute were refused and never sent: {reason}.", grouped(count)),
            })
        }
        _ => None,
    }
}

/// The note for an agent that is recorded.
pub(in crate::pages) const RECORDED: &str = "Its request and response are recorded, and deleted when they are older than \
     recording.keep or do not fit into recording.max_size.";

/// The note on where the bodies of a request are.
pub(in crate::pages) fn bodies(event_type: EventType) -> &'static str {
    match event_type {
        EventType::KillSwitch => {
            "Its request is kept as evidence of the incident. There is no response: the call was never sent."
        }
        EventType::Blocked => "Its request was not kept. There is no response: the call was never sent.",
        EventType::LlmCall => {
            "Its request and response are kept while the call is in a window of the detector, and after that only as evidence \
             of an incident."
        }
        EventType::AgentActivated | EventType::AgentDeactivated => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_says_what_became_of_its_calls() {
        let check = |part, (calls, failed, refused), expected: &str| {
            assert_eq!(summary(part, Counts { calls, failed, refused }), expected);
        };
        check(Part::All, (0, 0, 0), "No calls.");
        check(Part::All, (1, 0, 0), "1 call: none failed.");
        check(Part::All, (12, 0, 0), "12 calls: none failed.");
        check(Part::Newest, (48, 3, 12), "The newest 48 calls: 3 failed. 12 were refused.");
        check(Part::Older, (50, 1, 0), "50 older calls: 1 failed.");
        check(Part::All, (0, 0, 1), "1 call was refused.");
        check(Part::Newest, (0, 0, 222), "The newest 222 refused calls.");
    }
}
