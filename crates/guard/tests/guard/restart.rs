//! What a restart brings back.

use guard::{Guard, GuardConfig, Verdict};
use model::{Action, Counting, DeactivatedBy, Deactivation, Epoch, Fingerprint, KillSwitch, SavedAgent, Timestamp};

use crate::driver::{Ask, Driver, acting, counts, enabled, said};

const RECALL: u64 = SavedAgent::RECALL;
const QUESTION: &str = "Please look up the weather in Berlin and tell me whether I need an umbrella";
const ANSWER: &str = "It will rain in Berlin this afternoon, so you had better take an umbrella with you";

fn saved(driver: &Driver, kill_switch: KillSwitch, fingerprints: Vec<Fingerprint>) -> SavedAgent {
    SavedAgent {
        id: driver.agent.clone(),
        deactivation: None,
        epoch: Epoch(0),
        kill_switch,
        window_floor: 0,
        last_seen: Some(driver.now),
        exemptions: Vec::new(),
        fingerprints,
    }
}

/// The fingerprint that is stored of an answered call.
fn answered(driver: &mut Driver, ask: &Ask) -> Fingerprint {
    let ticket = driver.call(ask).ticket;
    driver.guard.on_answer(&ticket, &said(ANSWER), driver.now).unwrap()
}

#[test]
fn windows_epochs_and_active_flags_are_restored() {
    let kill_switch = enabled(5.0, Counting::Adaptive);
    let mut driver = Driver::new(KillSwitch::default());
    let prints: Vec<_> = (0..3).map(|_| answered(&mut driver, &Ask::new(QUESTION))).collect();
    let next = prints[2].number + 1;
    driver.guard = Guard::new(GuardConfig::default());
    driver.guard.restore(SavedAgent { epoch: Epoch(4), ..saved(&driver, kill_switch, prints) });
    let view = driver.guard.agent(&driver.agent).unwrap();
    assert_eq!((view.epoch, view.kill_switch, view.last_seen), (Epoch(4), kill_switch, Some(driver.now)));
    assert!((view.current_score.value - 4.0).abs() < f64::EPSILON, "the score of its newest call");
    let fourth = driver.call(&Ask::new(QUESTION));
    assert_eq!((counts(&fourth), fourth.fingerprint.number), ((3, 2, 0), next));
    assert!(matches!(fourth.verdict, Verdict::Kill(_)));
}

#[test]
fn agent_that_has_called_since_the_start_keeps_its_window() {
    let kill_switch = KillSwitch::default();
    let mut driver = Driver::new(kill_switch);
    let prints: Vec<_> = (0..3).map(|_| answered(&mut driver, &Ask::new(QUESTION))).collect();
    driver.guard = Guard::new(GuardConfig::default());
    driver.guard.restore_unless_known(saved(&driver, kill_switch, prints.clone()));
    assert_eq!(counts(&driver.call(&Ask::new(QUESTION))), (3, 2, 0), "an unknown agent is restored");

    driver.guard = Guard::new(GuardConfig::default());
    answered(&mut driver, &Ask::new(QUESTION));
    driver.guard.restore_unless_known(saved(&driver, kill_switch, prints));
    assert_eq!(counts(&driver.call(&Ask::new(QUESTION))), (1, 0, 0), "the call since the start is not lost");
}

#[test]
fn an_inactive_agent_stays_inactive() {
    let driver = Driver::new(KillSwitch::default());
    let at = Timestamp::from_millis(7);
    let deactivation = Some(Deactivation { by: DeactivatedBy::Manual, at, incident: None });
    driver.guard.restore(SavedAgent { deactivation, ..saved(&driver, KillSwitch::default(), Vec::new()) });
    assert_eq!(driver.guard.refuses(&driver.agent), deactivation);
}

#[test]
fn an_episode_under_observation_gets_no_second_incident() {
    let kill_switch = acting(Action::Observe, 3.5);
    let mut driver = Driver::new(kill_switch);
    let prints = (0..4).map(|_| answered(&mut driver, &Ask::new(QUESTION))).collect();
    driver.guard = Guard::new(GuardConfig::default());
    driver.guard.restore(saved(&driver, kill_switch, prints));
    assert!(matches!(driver.call(&Ask::new(QUESTION)).verdict, Verdict::Observe(None)));
}

#[test]
fn calls_that_left_the_windows_stay_out_after_a_restart() {
    let kill_switch = KillSwitch { counting: Counting::Literal, ..KillSwitch::default() };
    let mut driver = Driver::new(kill_switch);
    let prints: Vec<_> = (0..8).map(|_| answered(&mut driver, &Ask::new(QUESTION))).collect();
    driver.guard = Guard::new(GuardConfig::default());
    driver.guard.restore(SavedAgent { window_floor: prints[5].number, ..saved(&driver, kill_switch, prints) });
    assert_eq!(counts(&driver.call(&Ask::new(QUESTION))), (2, 1, 0));
}

#[test]
fn numbers_go_on_above_the_floor() {
    let mut driver = Driver::new(KillSwitch::default());
    driver.guard.restore(SavedAgent { window_floor: 40, ..saved(&driver, KillSwitch::default(), Vec::new()) });
    assert_eq!(driver.call(&Ask::new(QUESTION)).fingerprint.number, 41);
}

#[test]
fn a_conversation_that_rests_is_the_same_before_and_after() {
    for rest in [RECALL - 2, RECALL - 1, RECALL] {
        let kill_switch = enabled(10_000.0, Counting::Adaptive);
        let mut driver = Driver::new(kill_switch);
        let mut prints = vec![answered(&mut driver, &Ask::new(QUESTION).within("rests"))];
        prints.extend((0..rest).map(|_| driver.fail(&Ask::new("go on with it").within("busy"))));
        let restored = Guard::new(GuardConfig::default());
        let newest = prints.split_off(prints.len() - (RECALL as usize).min(prints.len()));
        restored.restore(saved(&driver, kill_switch, newest));
        let ask = Ask::new(QUESTION).within("rests");
        let before = driver.call(&ask).score;
        driver.guard = restored;
        assert_eq!(driver.call(&ask).score, before, "after {rest} calls");
        assert_eq!(before.signals.similar_prompts, u32::from(rest < RECALL - 1), "after {rest} calls");
    }
}
