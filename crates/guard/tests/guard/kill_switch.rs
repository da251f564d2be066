//! What the kill switch does: actions, evidence, late answers, changes of the settings.

use guard::Verdict;
use model::{Action, Counting, Cycle, Epoch, KillSwitch, Likeness, Matched, MatchedCall, Outcome, Timestamp};

use crate::driver::{Ask, Driver, acting, called, counts, enabled, is_kill, said};

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
    let alike = |by, with| Likeness { by, with, distance: Some(0) };
    let prompt = alike(Matched::Prompt, trigger.ticket.call);
    let both = vec![Matched::Prompt, Matched::Response];
    let like_both = vec![prompt, alike(Matched::Response, newest)];
    let expected = [
        (first, both.clone(), like_both.clone()),
        (failed, vec![Matched::Failed], Vec::new()),
        (second, both.clone(), like_both),
        (newest, both, vec![prompt]),
        (trigger.ticket.call, vec![Matched::Trigger], Vec::new()),
    ];
    assert_eq!(kill.matches, expected.map(|(call, matched, alike)| MatchedCall { call, matched, alike }));
    assert_eq!(kill.stuck.cycle, Some(Cycle { period: 1, laps: 3 }));
    assert_eq!(kill.stuck.calls, [second, newest, trigger.ticket.call]);
    assert_eq!(kill.window.len(), 6);
}

#[test]
fn a_likeness_has_its_distance() {
    let mut driver = Driver::new(enabled(2.5, Counting::Literal));
    let answers = ["It will rain.", "It will rain.", "It will rain.", "It will rain."];
    let near = format!("{QUESTION} {}", "in the afternoon of this long and grey and wet and windy day ".repeat(8));
    let asks = [near.clone(), format!("{near} there"), near];
    let kill = asks.iter().zip(answers).map(|(ask, answer)| driver.exchange(&Ask::new(ask), &said(answer))).last();
    let Some(Verdict::Kill(kill)) = kill.map(|scored| scored.verdict) else { panic!("no kill") };
    let distances: Vec<_> = kill.matches.iter().flat_map(|it| &it.alike).map(|it| (it.by, it.distance)).collect();
    let [(Matched::Prompt, Some(0)), (Matched::Response, Some(0)), (Matched::Prompt, Some(1..3))] = distances[..]
    else {
        panic!("{distances:?}")
    };
}

#[test]
fn a_cycle_of_tool_calls_is_told_with_its_laps() {
    for (counting, beside) in [(Counting::Adaptive, false), (Counting::Literal, false), (Counting::Adaptive, true)] {
        let mut driver = Driver::new(enabled(9.0, counting));
        let mut kill = None;
        for step in 0..30 {
            let command = ["read", "edit", "test"][step as usize % 3];
            let ask = Ask::new(QUESTION).after(2 * step, &format!(r#"{{"command":"{command}"}}"#), "no such file");
            if let Verdict::Kill(found) = driver.exchange(&ask, &called(&format!("{command} {step}"))).verdict {
                kill = Some(found);
                break;
            }
            if beside && step % 4 == 0 {
                let other = format!("{OTHER}, part {}", "abcdefgh".repeat(step as usize + 1));
                driver.exchange(&Ask::new(&other).within("another"), &said(&other));
            }
        }
        let stuck = kill.expect("killed").stuck;
        assert_eq!(stuck.cycle.map(|cycle| cycle.period), Some(3), "{counting:?} {beside}");
        let laps = stuck.cycle.map(|cycle| cycle.laps).unwrap() as usize;
        assert_eq!(stuck.calls.len() / 3, laps, "{counting:?} {beside}");
    }
}

#[test]
fn a_loop_does_not_reach_across_a_rest() {
    let mut driver = Driver::new(enabled(10.0, Counting::Adaptive));
    for _ in 0..9 {
        driver.exchange(&Ask::new(QUESTION), &said(ANSWER));
        driver.now = Timestamp::from_millis(driver.now.as_millis() + 6 * 60 * 60 * 1000);
    }
    let begin = driver.now;
    let kill = (0..8).find_map(|_| match driver.exchange(&Ask::new(QUESTION), &said(ANSWER)).verdict {
        Verdict::Kill(kill) => Some(kill),
        _ => None,
    });
    let kill = kill.expect("killed");
    let asked = kill.score.signals.similar_prompts + 1;
    assert_eq!(kill.stuck.cycle, Some(Cycle { period: 1, laps: asked }), "both count the same calls");
    assert_eq!(kill.stuck.calls.len(), asked as usize);
    assert!(kill.stuck.since >= begin, "the two days before do not count");
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
fn second_end_of_a_call_is_ignored() {
    let mut driver = Driver::new(enabled(100.0, Counting::Literal));
    let ticket = driver.call(&Ask::new(QUESTION)).ticket;
    assert!(driver.guard.on_answer(&ticket, &said(ANSWER), driver.now).is_some());
    assert_eq!(driver.guard.on_failure(&ticket, driver.now), None);
    assert_eq!(driver.guard.on_answer(&ticket, &said(OTHER), driver.now), None);
    driver.exchange(&Ask::new(QUESTION), &said(ANSWER));
    assert_eq!(
        counts(&driver.call(&Ask::new(QUESTION))),
        (2, 1, 0),
        "the first answer is still the one of the first call"
    );
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
    [OTHER, "three"].iter().for_each(|prompt| drop(driver.call(&Ask::new(prompt))));
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
fn settings_take_effect_with_the_next_call_and_return_the_old_ones() {
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

#[test]
fn an_agent_whose_data_is_being_deleted_is_stopped_for_nothing() {
    let mut driver = Driver::new(enabled(5.0, Counting::Adaptive));
    driver.exchange(&Ask::new(QUESTION), &said(ANSWER));
    driver.guard.suspend_kills(&driver.agent, true);
    for _ in 0..10 {
        assert!(matches!(driver.exchange(&Ask::new(QUESTION), &said(ANSWER)).verdict, Verdict::Pass));
    }
    driver.guard.suspend_kills(&driver.agent, false);
    assert!(is_kill(&driver.call(&Ask::new(QUESTION))));
}
