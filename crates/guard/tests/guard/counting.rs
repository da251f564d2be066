//! What adaptive counting counts and what it lets pass: the loops and the look-alikes that people
//! reported.

use model::{Counting, WindowKind};

use crate::driver::{Ask, Driver, called, counts, enabled, is_kill, said};

const TASK: &str = "Fix the failing test in the parser module and make sure that nothing else breaks on the way";
const LONG: &str = "I have looked at the parser and found that the tokenizer drops the last character of the input";

/// The largest score of a run at the defaults.
fn highest(counting: Counting, exchanges: impl IntoIterator<Item = (Ask, model::Answered)>) -> f64 {
    let mut driver = Driver::new(enabled(10_000.0, counting));
    exchanges.into_iter().map(|(ask, answer)| driver.exchange(&ask, &answer).score.value).fold(0.0, f64::max)
}

fn letter(index: u32) -> String {
    let letters = "abcdefghijklmnopqrstuvwxyz";
    letters.chars().cycle().skip(index as usize).take(3 + index as usize / 26).collect()
}

#[test]
fn fifty_steps_of_work_on_one_message_are_no_loop() {
    let steps = || {
        (0..50).map(|step| {
            let arguments = format!(r#"{{"command":"cat {}.rs"}}"#, letter(step));
            (Ask::new(TASK).after(2 * step, &arguments, &letter(step)), called(&arguments))
        })
    };
    assert!(highest(Counting::Adaptive, steps()) < 0.1);
    assert!(highest(Counting::Literal, steps()) > 10.0);
}

#[test]
fn the_same_call_with_the_same_result_is_a_loop() {
    let steps =
        (0..12).map(|step| (Ask::new(TASK).after(2 * step, r#"{"command":"ls"}"#, ""), called(r#"{"command":"ls"}"#)));
    assert!(highest(Counting::Adaptive, steps) > 10.0);
}

#[test]
fn a_result_that_differs_only_in_times_ids_and_numbers_is_the_same() {
    let steps = (0..12).map(|step| {
        let result = format!("error at 2024-01-15T10:30:{:02}Z, attempt {step}, pid {}", step + 10, 4_000 + step);
        (Ask::new(TASK).after(2 * step, r#"{"command":"make"}"#, &result), called(r#"{"command":"make"}"#))
    });
    assert!(highest(Counting::Adaptive, steps) > 10.0);
}

#[test]
fn polling_a_job_that_moves_is_no_loop() {
    let steps = (0..20).map(|step| {
        let result = format!("working on {}", letter(step));
        (Ask::new(TASK).after(2 * step, r#"{"command":"status"}"#, &result), called(r#"{"command":"status"}"#))
    });
    assert!(highest(Counting::Adaptive, steps) < 0.1);
}

#[test]
fn running_the_same_test_after_each_edit_is_no_loop() {
    let steps = (0..30).map(|step| {
        let test = r#"{"command":"cargo test"}"#.to_owned();
        let edit = format!(r#"{{"command":"sed -i s/a/{}/ a.rs"}}"#, letter(step));
        let (newest, next) = if step % 2 == 0 { (edit, test) } else { (test, format!("edit {}", letter(step + 1))) };
        let result = if step % 2 == 0 { "done".to_owned() } else { format!("error in {}", letter(step)) };
        (Ask::new(TASK).after(2 * step, &newest, &result), called(&next))
    });
    assert!(highest(Counting::Adaptive, steps) < 0.1);
}

#[test]
fn ping_pong_between_two_calls_is_a_loop() {
    let steps = (0..20).map(|step| {
        let arguments = if step % 2 == 0 { r#"{"command":"ls"}"# } else { r#"{"command":"pwd"}"# };
        (Ask::new(TASK).after(2 * step, arguments, "/home"), called(arguments))
    });
    assert!(highest(Counting::Adaptive, steps) > 10.0);
}

#[test]
fn numbers_in_arguments_are_progress() {
    let steps = || {
        (0..20).map(|step| {
            let arguments = format!(r#"{{"element":{}}}"#, 242 + step);
            (Ask::new(TASK).after(2 * step, &arguments, "clicked"), called(&arguments))
        })
    };
    assert!(highest(Counting::Adaptive, steps()) < 0.1);
    assert!(highest(Counting::Literal, steps()) > 10.0);
}

#[test]
fn a_conversation_started_over_counts_however_short() {
    let runs = (0..8).map(|_| (Ask::new("go"), said("ok")));
    assert!(highest(Counting::Adaptive, runs) > 10.0);
}

#[test]
fn a_first_message_about_errors_with_another_number_is_the_same_question() {
    let ask = |run| Ask::new(&format!("Read the log again and summarise the errors, attempt {run}"));
    let runs = (0..8).map(|run| (ask(run), said(LONG)));
    assert!(highest(Counting::Adaptive, runs) > 10.0);
}

#[test]
fn saying_continue_in_a_conversation_that_moves_on_is_no_loop() {
    let turns = (0..30).map(|turn| {
        let word = letter(turn);
        let answer = format!("{word} of {word} in {word} for {word} at {word} by {word} on {word} to {word}");
        (Ask::new("continue").at(turn), said(&answer))
    });
    // Only the turn before counts: its answer is the newest one.
    assert!(highest(Counting::Adaptive, turns) < 1.5);
}

#[test]
fn continue_that_is_always_answered_alike_is_a_loop() {
    let turns = (0..8).map(|turn| (Ask::new("continue").at(turn), said(LONG)));
    assert!(highest(Counting::Adaptive, turns) > 10.0);
}

#[test]
fn a_short_prompt_that_is_resent_without_an_answer_is_a_loop() {
    let turns = (0..14).map(|_| (Ask::new("and now?").at(3), said("")));
    assert!(highest(Counting::Adaptive, turns) > 10.0);
}

#[test]
fn a_batch_with_short_equal_answers_is_no_loop() {
    let batch = (0..20).map(|item| {
        let text = letter(item).repeat(3);
        let prompt = format!("Is the sentiment of this review positive or negative? Review: {text} was {text} {text}");
        (Ask::new(&prompt).within(&prompt), said("positive"))
    });
    assert!(highest(Counting::Adaptive, batch) < 0.1);
}

#[test]
fn a_retry_of_a_failed_call_is_the_same_call() {
    let run = |counting| {
        let mut driver = Driver::new(enabled(10_000.0, counting));
        for _ in 0..8 {
            driver.fail(&Ask::new(TASK));
        }
        counts(&driver.call(&Ask::new(TASK)))
    };
    assert_eq!(run(Counting::Adaptive), (0, 0, 0));
    assert_eq!(run(Counting::Literal), (8, 0, 0));
}

#[test]
fn a_storm_of_retries_ends() {
    let mut driver = Driver::new(enabled(10.0, Counting::Adaptive));
    for _ in 0..19 {
        driver.fail(&Ask::new(TASK));
    }
    let twentieth = driver.call(&Ask::new(TASK));
    assert_eq!((counts(&twentieth), is_kill(&twentieth)), ((11, 0, 0), true));
}

#[test]
fn samples_of_one_ask_are_one_ask() {
    let mut driver = Driver::new(enabled(10.0, Counting::Adaptive));
    for round in 0..3 {
        let samples: Vec<_> = (0..6).map(|_| driver.call(&Ask::new(TASK))).collect();
        assert!(samples.iter().all(|scored| counts(scored).0 == round));
        for scored in samples {
            driver.guard.on_answer(&scored.ticket, &said(""), driver.now);
        }
    }
}

#[test]
fn more_than_samples_at_once_are_a_storm() {
    let mut driver = Driver::new(enabled(10.0, Counting::Adaptive));
    let calls: Vec<bool> = (0..28).map(|_| is_kill(&driver.call(&Ask::new(TASK)))).collect();
    assert_eq!(calls.iter().position(|is_kill| *is_kill), Some(27));
}

#[test]
fn a_failed_call_that_was_not_retried_counts() {
    let mut driver = Driver::new(enabled(10_000.0, Counting::Adaptive));
    driver.fail(&Ask { body: "one".to_owned(), ..Ask::new(TASK) });
    assert_eq!(counts(&driver.call(&Ask { body: "two".to_owned(), ..Ask::new(TASK) })), (1, 0, 0));
}

#[test]
fn another_attachment_is_another_prompt() {
    for counting in [Counting::Adaptive, Counting::Literal] {
        let mut driver = Driver::new(enabled(10_000.0, counting));
        let with = |image: &str| Ask { attachments: vec![format!("{{\"image\":\"{image}\"}}")], ..Ask::new(TASK) };
        driver.exchange(&with("a"), &said("a"));
        driver.exchange(&Ask::new(TASK), &said("b"));
        assert_eq!(counts(&driver.exchange(&with("b"), &said("c"))), (0, 0, 0));
        assert_eq!(counts(&driver.call(&with("a"))), (1, 0, 0));
    }
}

#[test]
fn an_empty_prompt_or_response_is_never_similar() {
    let exchanges = (0..20).map(|_| (Ask::new(" \n"), said("")));
    assert!(highest(Counting::Literal, exchanges) < 0.1);
}

#[test]
fn a_question_asked_in_a_later_turn_counts_once_for_each_time() {
    let mut driver = Driver::new(enabled(10_000.0, Counting::Adaptive));
    for step in 0..5 {
        let arguments = format!(r#"{{"command":"{}"}}"#, letter(step));
        let error = format!("error {}", letter(step).repeat(3));
        driver.exchange(&Ask::new(TASK).after(2 * step, &arguments, &error), &called(&arguments));
    }
    assert_eq!(counts(&driver.call(&Ask::new(TASK).at(1))), (1, 0, 0));
}

#[test]
fn one_stuck_conversation_among_many_is_seen() {
    let mut driver = Driver::new(enabled(5.0, Counting::Adaptive));
    for round in 0..3 {
        driver.exchange(&Ask::new(TASK).within("stuck"), &said(LONG));
        for other in 0..40 {
            let text = letter(round * 40 + other).repeat(5);
            driver.exchange(&Ask::new(&format!("tell me {text} of {text}")).within(&text), &said(&text));
        }
    }
    let fourth = driver.call(&Ask::new(TASK).within("stuck"));
    assert_eq!((counts(&fourth), fourth.score.window), ((3, 2, 0), WindowKind::Conversation));
}
