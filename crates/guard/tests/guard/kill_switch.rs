//! What the kill switch does: actions, evidence, late answers, changes of the settings.

use guard::Verdict;
use model::{Action, Counting, Epoch, KillSwitch, Matched, Outcome};

use crate::driver::{Ask, Driver, acting, counts, enabled, is_kill, said};

const QUESTION: &str = "Please look up the weather in Berlin and tell me whether I need an umbrella";
const OTHER: &str = "Write a function that reverses a linked list in place and explain how it works";
const ANSWER: &str = "It will rain in Berlin this afternoon, so you had better take an umbrella with you";

#[test]
fn an_episode_is_observed_once() {
    let mut driver = Driver::new(acting(Action::Observe, 3.5));
    let mut observed = Vec::new();
    let third = "Summarise the minutes of the last meeting for those who could not come to it";
    for question in [QUESTION, QUESTION, QUESTION, QUESTION, OTHER, third, QUESTION] {
        let answer = if question == QUESTION { ANSWER } else { question };
        observed.push(match driver.exchange(&Ask::new(question), &said(answer)).verdict {
            Verdict::Pass => '.',
            Verdict::Observe(Some(_)) => 'I',
            Verdict::Observe(None) => 'o',
            _ => '!',
        });
    }
    // The fifth call still has the answers of the loop behind it, the sixth ends the episode.
    assert_eq!(observed.iter().collect::<String>(), "..Ioo.I");
}

#[test]
fn the_evidence_says_why_each_call_matched() {
    let mut driver = Driver::new(enabled(5.0, Counting::Adaptive));
    let first = driver.exchange(&Ask::new(QUESTION), &said(ANSWER)).ticket.call;
    driver.exchange(&Ask::new(OTHER), &said(OTHER));
    let failed = driver.fail(&Ask { body: "sent once".to_owned(), ..Ask::new(OTHER) }).call;
    let second = driver.exchange(&Ask::new(QUESTION), &said(ANSWER)).ticket.call;
    let newest = driver.exchange(&Ask::new(QUESTION), &said(ANSWER)).ticket.call;
    let trigger = driver.call(&Ask::new(QUESTION));
    let Verdict::Kill(kill) = &trigger.verdict else { panic!("no kill") };
    let both = vec![Matched::Prompt, Matched::Response];
    let expected = [
        (first, both.clone()),
        (failed, vec![Matched::Failed]),
        (second, both.clone()),
        (newest, both),
        (trigger.ticket.call, vec![Matched::Trigger]),
    ];
    assert_eq!(kill.matches, expected);
}

#[test]
fn the_refused_call_stays_in_the_window_as_a_question() {
    let mut driver = Driver::new(acting(Action::Block, 1.5));
    driver.exchange(&Ask::new(QUESTION), &said(ANSWER));
    driver.exchange(&Ask::new(QUESTION), &said(ANSWER));
    let third = driver.call(&Ask::new(QUESTION));
    assert_eq!((counts(&third), third.fingerprint.outcome), ((2, 1, 0), Outcome::Refused));
    assert_eq!(counts(&driver.call(&Ask::new(QUESTION))), (3, 1, 0));
}

#[test]
fn an_answer_reaches_its_own_call_only() {
    let mut driver = Driver::new(enabled(100.0, Counting::Literal));
    let calls: Vec<_> = (0..4).map(|_| driver.call(&Ask::new(QUESTION))).collect();
    let first = calls[0].fingerprint.number;
    let tickets: Vec<_> = calls.into_iter().map(|call| call.ticket).collect();
    // The answers come in another order than the calls; the newest one is that of the newest call.
    for (index, answer) in [(3, ANSWER), (0, ANSWER), (1, OTHER)] {
        let print = driver.guard.on_answer(&tickets[index], &said(answer), driver.now).unwrap();
        assert_eq!((print.call, print.number), (tickets[index].call, first + index as u64));
    }
    assert_eq!(counts(&driver.call(&Ask::new(QUESTION))), (4, 1, 0));
    driver.guard.on_answer(&tickets[2], &said(ANSWER), driver.now).unwrap();
    assert_eq!(counts(&driver.call(&Ask::new(QUESTION))), (5, 2, 0));
}

#[test]
fn what_ended_once_stays_as_it_is() {
    let mut driver = Driver::new(KillSwitch::default());
    let ticket = driver.call(&Ask::new(QUESTION)).ticket;
    let answered = driver.guard.on_answer(&ticket, &said(ANSWER), driver.now);
    assert_eq!(driver.guard.on_failure(&ticket, driver.now), answered);
    assert_eq!(driver.guard.on_answer(&ticket, &said(OTHER), driver.now), answered);
}

#[test]
fn an_answer_from_an_older_epoch_is_never_scored() {
    let mut driver = Driver::new(enabled(100.0, Counting::Literal));
    let late = driver.call(&Ask::new(QUESTION)).ticket;
    driver.guard.deactivate(&driver.agent, driver.now);
    driver.guard.activate(&driver.agent, Epoch(1));
    assert_eq!(driver.guard.on_answer(&late, &said(ANSWER), driver.now), None);
    driver.exchange(&Ask::new(QUESTION), &said(ANSWER));
    assert_eq!(counts(&driver.call(&Ask::new(QUESTION))), (1, 0, 0));
}

#[test]
fn an_answer_to_a_call_that_left_the_windows_is_not_scored() {
    let mut driver = Driver::new(KillSwitch { window_size: 2, ..KillSwitch::default() });
    let late = driver.call(&Ask::new(QUESTION)).ticket;
    (0..2).for_each(|_| drop(driver.call(&Ask::new(OTHER))));
    assert_eq!(driver.guard.on_answer(&late, &said(ANSWER), driver.now), None);
    assert_eq!(driver.guard.on_failure(&late, driver.now), None);
}

#[test]
fn an_epoch_that_has_begun_is_not_begun_again() {
    let mut driver = Driver::new(enabled(0.5, Counting::Adaptive));
    driver.guard.activate(&driver.agent, Epoch(1));
    driver.exchange(&Ask::new(QUESTION), &said(ANSWER));
    assert!(is_kill(&driver.call(&Ask::new(QUESTION))));
    driver.guard.activate(&driver.agent, Epoch(1));
    assert!(driver.guard.refuses(&driver.agent).is_some(), "a kill of this epoch is not lifted");
    driver.guard.activate(&driver.agent, Epoch(2));
    assert!(driver.guard.refuses(&driver.agent).is_none());
}

#[test]
fn a_change_takes_effect_with_the_next_call_and_says_what_was() {
    let mut driver = Driver::new(KillSwitch::default());
    let first = driver.call(&Ask::new(QUESTION)).fingerprint.number;
    (1..30).for_each(|_| drop(driver.call(&Ask::new(QUESTION))));
    let literal = KillSwitch { counting: Counting::Literal, ..KillSwitch::default() };
    let same_size = driver.guard.configure(&driver.agent, literal);
    assert_eq!((same_size.before, same_size.window_floor), (KillSwitch::default(), 0));
    let smaller = driver.guard.configure(&driver.agent, KillSwitch { window_size: 5, ..literal });
    assert_eq!(smaller.window_floor, first + 24);
    let larger = driver.guard.configure(&driver.agent, KillSwitch { window_size: 10, ..literal });
    assert_eq!(larger.window_floor, first + 24);
    assert_eq!(counts(&driver.call(&Ask::new(QUESTION))), (5, 0, 0), "the newest five stayed");
}

#[test]
fn an_unscored_call_shows_that_the_agent_is_alive() {
    let driver = Driver::new(KillSwitch::default());
    assert!(driver.guard.agent(&driver.agent).is_none());
    assert_eq!(driver.guard.on_unscored_call(&driver.agent, driver.now), Epoch(0));
    assert_eq!(driver.guard.agent(&driver.agent).unwrap().last_seen, Some(driver.now));
}

#[test]
fn a_forgotten_agent_is_new() {
    let mut driver = Driver::new(enabled(0.5, Counting::Adaptive));
    driver.exchange(&Ask::new(QUESTION), &said(ANSWER));
    assert!(is_kill(&driver.call(&Ask::new(QUESTION))));
    driver.guard.forget(&driver.agent);
    assert!(driver.guard.agent(&driver.agent).is_none());
    assert_eq!(counts(&driver.call(&Ask::new(QUESTION))), (0, 0, 0));
}
