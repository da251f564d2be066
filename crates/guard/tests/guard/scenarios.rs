//! What the detector and the kill switch promise, one scenario each.

use guard::{Decision, Numbers, Verdict, normalise, text_hash};
use model::{Action, Counting, DeactivatedBy, Epoch, KillSwitch, WindowKind};

use crate::driver::{Ask, Driver, acting, called, counts, enabled, is_kill, said};

const QUESTION: &str = "Please look up the weather in Berlin and tell me whether I need an umbrella";
const OTHER: &str = "Write a function that reverses a linked list in place and explain how it works";
const ANSWER: &str = "It will rain in Berlin this afternoon, so you had better take an umbrella with you";

fn distance(one: &str, other: &str) -> u32 {
    let hash = |text| text_hash(text, Numbers::Masked).unwrap();
    hash(one).distance(hash(other))
}

#[test]
fn similar_texts_produce_similar_hashes() {
    for (one, other) in [
        ("order 12 is late", "order 99871 is late"),
        ("at 2024-01-15T10:30:00Z it failed", "at 2025-11-02 08:01 it failed"),
        ("id 550e8400-e29b-41d4-a716-446655440000", "id f47ac10b-58cc-4372-a567-0e02b2c3d479"),
        ("it costs 1,000.50 or -3", "it costs 7 or 4"),
        ("Retry  3\r\n of 5", "retry 4 of 5"),
    ] {
        assert!(distance(one, other) < 3, "{one:?} {other:?}");
    }
}

#[test]
fn different_texts_produce_different_hashes() {
    assert!(distance(QUESTION, OTHER) > 5);
    assert!(distance(ANSWER, QUESTION) > 5);
}

#[test]
fn extract_user_message() {
    // Which message that is, is read by `wire`; here it is what counts, whatever else the body
    // holds.
    let mut driver = Driver::new(enabled(5.0, Counting::Literal));
    driver.exchange(&Ask { body: "a long history".to_owned(), ..Ask::new(QUESTION) }, &said(ANSWER));
    let second = driver.call(&Ask { body: "another history".to_owned(), ..Ask::new(QUESTION) });
    assert_eq!(counts(&second), (1, 0, 0));
}

#[test]
fn score_calculation() {
    let mut driver = Driver::new(enabled(100.0, Counting::Literal));
    let ask = Ask::new(QUESTION).after(2, r#"{"command":"ls"}"#, "a.txt");
    (0..3).for_each(|_| drop(driver.exchange(&ask, &said(ANSWER))));
    let fourth = driver.call(&ask);
    assert_eq!(counts(&fourth), (3, 2, 3));
    assert!((fourth.score.value - (3.0 * 1.0 + 2.0 * 2.0 + 3.0 * 1.5)).abs() < f64::EPSILON);
    assert_eq!(fourth.score.window, WindowKind::Agent);
}

#[test]
fn four_identical_exchanges_at_threshold_5_are_a_kill() {
    for counting in [Counting::Adaptive, Counting::Literal] {
        for (question, answer) in [(QUESTION, ANSWER), ("hi", "ok")] {
            let mut driver = Driver::new(enabled(5.0, counting));
            let ask = Ask::new(question);
            let scores: Vec<f64> = (0..3).map(|_| driver.exchange(&ask, &said(answer)).score.value).collect();
            assert_eq!(scores, [0.0, 1.0, 4.0], "{counting:?} {question}");
            let fourth = driver.call(&ask);
            assert_eq!(counts(&fourth), (3, 2, 0), "{counting:?} {question}");
            assert!(is_kill(&fourth));
        }
    }
}

#[test]
fn at_the_defaults_the_sixth_identical_call_is_the_first_one_refused() {
    for counting in [Counting::Adaptive, Counting::Literal] {
        let mut driver = Driver::new(KillSwitch { enabled: true, counting, ..KillSwitch::default() });
        for call in 1..=5 {
            let scored = driver.exchange(&Ask::new(QUESTION), &said(ANSWER));
            assert!(matches!(scored.verdict, Verdict::Pass), "call {call}");
        }
        assert!(is_kill(&driver.call(&Ask::new(QUESTION))));
    }
}

#[test]
fn prompt_similarity_check() {
    let mut driver = Driver::new(enabled(100.0, Counting::Literal));
    driver.call(&Ask::new("order 12345 from 2024-01-15 is late"));
    driver.call(&Ask::new(OTHER));
    assert_eq!(counts(&driver.call(&Ask::new("Order 7 from 2025-02-01  is late"))), (1, 0, 0));
}

#[test]
fn response_similarity_check() {
    let mut driver = Driver::new(enabled(100.0, Counting::Literal));
    let answers = [ANSWER, OTHER, ANSWER, "", ANSWER];
    for (index, answer) in answers.into_iter().enumerate() {
        let prompts = ["north", "south of it", "west", "east then", "up"];
        driver.exchange(&Ask::new(prompts[index]), &said(answer));
    }
    assert_eq!(counts(&driver.call(&Ask::new("down"))), (0, 2, 0));
}

#[test]
fn tool_call_repetition_check() {
    let mut driver = Driver::new(enabled(100.0, Counting::Adaptive));
    let ask = |depth, arguments: &str| Ask::new(QUESTION).after(depth, arguments, "nothing");
    driver.exchange(&ask(2, r#"{"a":1,"b":[2, 3]}"#), &called("{}"));
    driver.exchange(&ask(4, r#"{"b":[3,2],"a":1}"#), &called("{}"));
    let third = driver.call(&ask(6, r#"{ "b": [2,3], "a": 1 }"#));
    assert_eq!(third.score.signals.repeated_tool_calls, 1);
}

#[test]
fn the_order_of_parallel_calls_is_ignored() {
    let mut driver = Driver::new(enabled(100.0, Counting::Adaptive));
    let calls =
        [("ls", "{}"), ("cat", r#"{"path":"a"}"#)].map(|(name, arguments)| (name.to_owned(), arguments.to_owned()));
    let results = ["a".to_owned(), "text".to_owned()];
    let one = Ask { depth: 3, calls: calls.to_vec(), results: results.to_vec(), ..Ask::new(QUESTION) };
    let mut other = Ask { depth: 6, ..one.clone() };
    other.calls.reverse();
    other.results.reverse();
    driver.call(&one);
    assert_eq!(driver.call(&other).score.signals.repeated_tool_calls, 1);
}

#[test]
fn enable_kill_switch() {
    let mut driver = Driver::new(KillSwitch { threshold: 1.5, ..KillSwitch::default() });
    driver.exchange(&Ask::new(QUESTION), &said(ANSWER));
    driver.exchange(&Ask::new(QUESTION), &said(ANSWER));
    driver.configure(enabled(1.5, Counting::Adaptive));
    assert!(is_kill(&driver.call(&Ask::new(QUESTION))));
}

#[test]
fn disable_kill_switch() {
    let mut driver = Driver::new(KillSwitch { threshold: 5.0, ..KillSwitch::default() });
    let verdicts: Vec<Verdict> = (0..10).map(|_| driver.exchange(&Ask::new(QUESTION), &said(ANSWER)).verdict).collect();
    assert!(verdicts[..3].iter().all(|verdict| matches!(verdict, Verdict::Pass)));
    assert!(verdicts[3..].iter().all(|verdict| matches!(verdict, Verdict::WouldHaveStopped)));
}

#[test]
fn configure_window_size() {
    for window_size in [2, 3, 7, 500] {
        let mut driver = Driver::new(KillSwitch { window_size, ..enabled(10_000.0, Counting::Literal) });
        let last = (0..600).map(|_| driver.call(&Ask::new(QUESTION))).last().unwrap();
        assert_eq!(counts(&last), (u32::from(window_size) - 1, 0, 0));
    }
}

#[test]
fn configure_threshold() {
    let mut driver = Driver::new(enabled(3.0, Counting::Literal));
    (0..4).for_each(|_| assert!(!is_kill(&driver.call(&Ask::new(QUESTION)))));
    assert!(is_kill(&driver.call(&Ask::new(QUESTION))), "3.0 is not more than 3.0, 4.0 is");
}

#[test]
fn block_on_threshold_exceeded() {
    let mut driver = Driver::new(acting(Action::Block, 5.0));
    (0..3).for_each(|_| drop(driver.exchange(&Ask::new(QUESTION), &said(ANSWER))));
    for _ in 0..3 {
        assert!(matches!(driver.call(&Ask::new(QUESTION)).verdict, Verdict::Block));
        assert!(driver.guard.refuses(&driver.agent).is_none(), "the agent stays active");
    }
    assert!(matches!(driver.call(&Ask::new(OTHER)).verdict, Verdict::Pass));
}

#[test]
fn deactivate_on_threshold_exceeded() {
    let mut driver = Driver::new(enabled(5.0, Counting::Adaptive));
    (0..3).for_each(|_| drop(driver.exchange(&Ask::new(QUESTION), &said(ANSWER))));
    let Verdict::Kill(kill) = driver.call(&Ask::new(QUESTION)).verdict else { panic!("no kill") };
    let deactivation = driver.guard.refuses(&driver.agent).unwrap();
    assert_eq!(deactivation.by, DeactivatedBy::KillSwitch);
    assert_eq!((deactivation.at, deactivation.incident), (driver.now, Some(kill.incident)));
}

#[test]
fn use_standard_inactive_response() {
    let mut driver = Driver::new(enabled(5.0, Counting::Adaptive));
    (0..4).for_each(|_| drop(driver.exchange(&Ask::new(QUESTION), &said(ANSWER))));
    for question in [QUESTION, OTHER] {
        let Decision::Inactive(deactivation) = driver.decide(&Ask::new(question)) else { panic!("active") };
        assert_eq!(deactivation.by, DeactivatedBy::KillSwitch);
    }
}

#[test]
fn record_kill_switch_event() {
    let mut driver = Driver::new(enabled(5.0, Counting::Adaptive));
    (0..3).for_each(|_| drop(driver.exchange(&Ask::new(QUESTION), &said(ANSWER))));
    let scored = driver.call(&Ask::new(QUESTION));
    let Verdict::Kill(kill) = scored.verdict else { panic!("no kill") };
    assert_eq!((kill.agent, kill.epoch, kill.at), (driver.agent.clone(), Epoch(0), driver.now));
    assert_eq!((kill.score, kill.kill_switch), (scored.score, enabled(5.0, Counting::Adaptive)));
}

#[test]
fn sliding_window_storage() {
    let mut driver = Driver::new(KillSwitch { window_size: 3, ..enabled(100.0, Counting::Literal) });
    assert_eq!(counts(&driver.call(&Ask::new(QUESTION))), (0, 0, 0));
    assert_eq!(counts(&driver.call(&Ask::new(QUESTION))), (1, 0, 0));
    assert_eq!(counts(&driver.call(&Ask::new(QUESTION))), (2, 0, 0));
}

#[test]
fn window_overflow() {
    let mut driver = Driver::new(KillSwitch { window_size: 3, ..enabled(100.0, Counting::Literal) });
    let first = driver.exchange(&Ask::new(QUESTION), &said(ANSWER)).ticket.call;
    assert!(driver.call(&Ask::new("two")).released.is_empty());
    assert!(driver.call(&Ask::new("three")).released.is_empty());
    let fourth = driver.call(&Ask::new(QUESTION));
    assert_eq!(fourth.released, [first], "the oldest leaves first");
    assert_eq!(counts(&fourth), (0, 0, 0));
}

#[test]
fn response_hash_capture() {
    let mut driver = Driver::new(enabled(100.0, Counting::Adaptive));
    let ticket = driver.call(&Ask::new(QUESTION)).ticket;
    let print = driver.guard.on_answer(&ticket, &said("Order 5 was sent"), driver.now).unwrap();
    let response = print.response.unwrap();
    assert_eq!(Some(response.literal), text_hash("order 77 was sent", Numbers::Masked));
    assert_eq!(Some(response.adaptive), text_hash("order 5 was sent", Numbers::Kept));
    assert_eq!(normalise("Order 5 was sent", Numbers::Kept), "order 5 was sent");
}

#[test]
fn clear_window_on_activate() {
    let mut driver = Driver::new(enabled(5.0, Counting::Adaptive));
    let mut calls: Vec<_> = (0..4).map(|_| driver.exchange(&Ask::new(QUESTION), &said(ANSWER)).ticket.call).collect();
    driver.guard.activate(&driver.agent, Epoch(1));
    assert!(driver.guard.refuses(&driver.agent).is_none());
    let first = driver.call(&Ask::new(QUESTION));
    assert_eq!(counts(&first), (0, 0, 0));
    let mut released = first.released;
    released.sort();
    calls.sort();
    assert_eq!(released, calls, "the bodies of the old epoch are released");
}

#[test]
fn store_deactivation_reason() {
    let driver = Driver::new(KillSwitch::default());
    let deactivation = driver.guard.deactivate(&driver.agent, driver.now).unwrap();
    assert_eq!((deactivation.by, deactivation.incident), (DeactivatedBy::Manual, None));
    assert_eq!(driver.guard.deactivate(&driver.agent, driver.now), None);
    assert_eq!(driver.guard.refuses(&driver.agent), Some(deactivation));
}

#[test]
fn clear_deactivation_reason_on_activate() {
    let driver = Driver::new(KillSwitch::default());
    driver.guard.deactivate(&driver.agent, driver.now).unwrap();
    driver.guard.activate(&driver.agent, Epoch(1));
    assert_eq!(driver.guard.agent(&driver.agent).unwrap().deactivation, None);
}
