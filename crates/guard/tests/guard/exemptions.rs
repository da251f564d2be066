//! What does not count for one agent: the prompt or the tool call of a false alarm, until a time,
//! and nothing else.

use guard::{Guard, GuardConfig, rescore};
use model::{
    AgentId, Answered, Counting, Epoch, Exempt, ExemptKind, Exemption, ExemptionId, Fingerprint, SavedAgent, Timestamp,
};

use crate::driver::{Ask, Driver, called, counts, enabled, is_kill, said};

const HEARTBEAT: &str = "Look into the inbox of the support team and tell me whether there is anything to do";
const QUIET: &str = "There is nothing to do in the inbox of the support team at the moment, I will look again later";
const OTHER: &str = "Write a function that reverses a linked list in place and explain how it works";
const LONG_AFTER: Timestamp = Timestamp::from_millis(1_000_000_000);
const BOTH: [Counting; 2] = [Counting::Adaptive, Counting::Literal];

fn exemption(call: &Fingerprint, kind: ExemptKind, until: Timestamp) -> Exemption {
    Exemption { id: ExemptionId::new(), exempt: Exempt::of(call, kind).unwrap(), until }
}

/// A fresh agent for which the prompt or the tool call of `ask` does not count.
fn exempting(ask: &Ask, kind: ExemptKind, counting: Counting) -> (Driver, Exemption) {
    let print = Driver::new(enabled(10.0, counting)).call(ask).fingerprint;
    let driver = Driver::new(enabled(10.0, counting));
    let exemption = exemption(&print, kind, LONG_AFTER);
    driver.guard.exempt(&driver.agent, vec![exemption]);
    (driver, exemption)
}

/// After how many of `times` exchanges it was killed.
fn killed_at(driver: &mut Driver, times: u32, exchange: impl Fn(u32) -> (Ask, Answered)) -> Option<u32> {
    (1..=times).find(|number| {
        let (ask, answer) = exchange(*number);
        is_kill(&driver.exchange(&ask, &answer))
    })
}

fn heartbeat(_number: u32) -> (Ask, Answered) {
    (Ask::new(HEARTBEAT), said(QUIET))
}

fn poll(number: u32) -> (Ask, Answered) {
    let arguments = r#"{"command":"job status"}"#;
    (Ask::new(HEARTBEAT).after(2 * number, arguments, "still running"), called(arguments))
}

#[test]
fn an_exempt_prompt_and_its_answers_do_not_count() {
    for counting in BOTH {
        assert!(killed_at(&mut Driver::new(enabled(10.0, counting)), 40, heartbeat).is_some(), "{counting:?}");
        let (mut driver, _) = exempting(&Ask::new(HEARTBEAT), ExemptKind::Prompt, counting);
        assert_eq!(killed_at(&mut driver, 40, heartbeat), None, "{counting:?}");
        assert_eq!(counts(&driver.call(&Ask::new(HEARTBEAT))), (0, 0, 0), "{counting:?}");
    }
}

#[test]
fn an_exempt_tool_call_does_not_count() {
    for counting in BOTH {
        assert!(killed_at(&mut Driver::new(enabled(10.0, counting)), 40, poll).is_some(), "{counting:?}");
        let (mut driver, _) = exempting(&poll(1).0, ExemptKind::ToolCall, counting);
        assert_eq!(killed_at(&mut driver, 40, poll), None, "{counting:?}");
    }
}

#[test]
fn everything_else_counts_as_before() {
    let other = |_| (Ask::new(OTHER), said(QUIET));
    for counting in BOTH {
        let plain = |exchange: &dyn Fn(u32) -> (Ask, Answered)| {
            killed_at(&mut Driver::new(enabled(10.0, counting)), 40, exchange)
        };
        let (mut driver, _) = exempting(&Ask::new(HEARTBEAT), ExemptKind::Prompt, counting);
        assert_eq!(killed_at(&mut driver, 40, other), plain(&other), "another prompt, {counting:?}");
        let (mut driver, _) = exempting(&Ask::new(HEARTBEAT), ExemptKind::Prompt, counting);
        assert!(killed_at(&mut driver, 40, poll).is_some(), "stuck in work on the exempt prompt, {counting:?}");
        let (mut driver, _) = exempting(&poll(1).0, ExemptKind::ToolCall, counting);
        assert_eq!(killed_at(&mut driver, 40, heartbeat), plain(&heartbeat), "the prompt itself, {counting:?}");
        let list = |number| {
            let arguments = r#"{"command":"ls"}"#;
            (Ask::new(HEARTBEAT).after(2 * number, arguments, ""), called(arguments))
        };
        let (mut driver, _) = exempting(&poll(1).0, ExemptKind::ToolCall, counting);
        assert_eq!(killed_at(&mut driver, 40, list), plain(&list), "another tool call, {counting:?}");
    }
}

#[test]
fn exemption_holds_until_its_time_and_for_its_agent() {
    for counting in BOTH {
        let (mut driver, exemption) = exempting(&Ask::new(HEARTBEAT), ExemptKind::Prompt, counting);
        let until = Timestamp::from_millis(driver.now.as_millis() + 16);
        driver.guard.exempt(&driver.agent, vec![Exemption { until, ..exemption }]);
        // The call that comes at that very time counts again, and so do those before it.
        assert_eq!(killed_at(&mut driver, 40, heartbeat), Some(16), "{counting:?}");

        let (mut driver, _) = exempting(&Ask::new(HEARTBEAT), ExemptKind::Prompt, counting);
        driver.agent = AgentId::parse("another").unwrap();
        assert!(killed_at(&mut driver, 40, heartbeat).is_some(), "{counting:?}");
    }
}

#[test]
fn who_revokes_it_changes_the_next_call() {
    let (mut driver, _) = exempting(&Ask::new(HEARTBEAT), ExemptKind::Prompt, Counting::Adaptive);
    assert_eq!(killed_at(&mut driver, 12, heartbeat), None);
    driver.guard.exempt(&driver.agent, Vec::new());
    assert_eq!(killed_at(&mut driver, 1, heartbeat), Some(1));
}

#[test]
fn exemption_survives_a_restart() {
    let (mut driver, exemption) = exempting(&Ask::new(HEARTBEAT), ExemptKind::Prompt, Counting::Adaptive);
    let fingerprints = (0..12).map(|_| {
        let ticket = driver.call(&Ask::new(HEARTBEAT)).ticket;
        driver.guard.on_answer(&ticket, &said(QUIET), driver.now).unwrap()
    });
    let fingerprints: Vec<Fingerprint> = fingerprints.collect();
    let saved = |exemptions| SavedAgent {
        id: driver.agent.clone(),
        deactivation: None,
        epoch: Epoch(0),
        kill_switch: enabled(10.0, Counting::Adaptive),
        window_floor: 0,
        last_seen: None,
        exemptions,
        fingerprints: fingerprints.clone(),
    };
    for (exemptions, score) in [(vec![exemption], 0.0), (Vec::new(), 31.0)] {
        let restored = Guard::new(GuardConfig::default());
        restored.restore(saved(exemptions));
        let view = restored.agent(&driver.agent).unwrap();
        assert!((view.current_score.value - score).abs() < f64::EPSILON, "{:?}", view.current_score);
    }
}

#[test]
fn an_agent_with_one_is_not_forgotten_to_make_room() {
    let print = Driver::new(enabled(10.0, Counting::Adaptive)).call(&Ask::new(HEARTBEAT)).fingerprint;
    let config = GuardConfig { defaults: enabled(10.0, Counting::Adaptive), max_agents: 1, ..GuardConfig::default() };
    let mut driver = Driver::with(config);
    driver.guard.exempt(&driver.agent, vec![exemption(&print, ExemptKind::Prompt, LONG_AFTER)]);
    let own = driver.agent.clone();
    for number in 0..10 {
        driver.agent = AgentId::parse(&format!("other-{number}")).unwrap();
        driver.call(&Ask::new(OTHER));
    }
    driver.agent = own;
    assert_eq!(killed_at(&mut driver, 40, heartbeat), None);
}

#[test]
fn rescore_applies_the_rules_of_live_calls() {
    for counting in BOTH {
        let mut driver = Driver::new(enabled(10.0, counting));
        let killed = (0..40).find_map(|_| match driver.exchange(&Ask::new(HEARTBEAT), &said(QUIET)).verdict {
            guard::Verdict::Kill(kill) => Some(kill),
            _ => None,
        });
        let kill = killed.unwrap();
        let prompt = exemption(kill.window.last().unwrap(), ExemptKind::Prompt, LONG_AFTER);
        assert_eq!(rescore(&kill.window, counting, &[]), kill.score.signals);
        assert!(rescore(&kill.window, counting, &[prompt]).score() < f64::EPSILON);
        let over = Exemption { until: kill.at, ..prompt };
        assert_eq!(rescore(&kill.window, counting, &[over]), kill.score.signals, "it was over by then");
    }
}
