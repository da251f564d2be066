//! What came of the steps decides: loops and work that differ only in that.

use serde_json::json;

use crate::client::{Client, killed_at, words};

/// Plays rounds until the kill and checks at which call it comes.
fn check(expected: Option<usize>, round: impl FnMut(&mut Client, usize)) {
    assert_eq!(killed_at(round), expected);
}

/// Lines of a file, with their numbers.
fn lines(from: usize, count: usize) -> String {
    (from..from + count).map(|line| format!("{line:>6}\t{}\n", words(line, 4))).collect()
}

#[test]
fn parts_of_a_file_that_overlap() {
    check(Some(8), |client, round| {
        let (from, count) = (round * 7 % 20, 80 + round * 11 % 30);
        client.tool("Read", &json!({"file_path": "a.rs", "offset": from, "limit": count}), &lines(from, count));
    });
}

#[test]
fn a_file_that_is_read_part_by_part_goes_on() {
    check(None, |client, round| {
        let from = (round * 37) % 60 * 100;
        client.tool("Read", &json!({"file_path": "a.rs", "offset": from, "limit": 100}), &lines(from, 100));
    });
}

#[test]
fn failures_with_edits_between_go_on() {
    check(None, |client, round| {
        client.tool("edit", &json!({"path": "a.rs", "old": words(round, 2), "new": words(round, 3)}), "edited a.rs");
        client.tool("bash", &json!({"command": "cargo build"}), &format!("error[E0308]: {}", words(round, 5)));
    });
}

#[test]
fn one_refusal_whatever_is_said_and_tried() {
    check(Some(7), |client, round| {
        let arguments = json!({"path": words(round, 1)});
        client.say_and_call(&words(round, 12), "open", &arguments, "Error: the sandbox is not available");
    });
}

#[test]
fn a_failure_behind_numbers_that_are_drawn() {
    check(Some(6), |client, round| {
        let process = [89_782, 11_929, 93_234, 32_438, 53_345][round % 5];
        let port = [45_822, 41_126, 50_075, 47_230, 47_320, 54_656, 41_548][round % 7];
        let result = format!("[{process}] binding {port}\nError: address already in use");
        client.tool("bash", &json!({"command": "npm start"}), &result);
    });
}

#[test]
fn a_cycle_of_eight_steps_in_ever_other_words() {
    check(Some(19), |client, round| {
        let path = format!("{}.rs", words(round % 8, 1));
        client.say_and_call(&words(round, 12), "read_file", &json!({ "path": path }), &words(round % 8, 30));
    });
}

#[test]
fn conversations_that_are_all_stuck() {
    check(Some(12), |client, round| {
        if round % 3 == 0 {
            client.start_session(round / 3 % 3, &words(round / 3 % 3, 30));
        }
        client.tool("status", &json!({}), "the queue is blocked by another worker, please try again soon");
    });
}

#[test]
fn rounds_of_samples_after_the_first() {
    check(Some(9), |client, _| {
        client.wait(5);
        client.sample(&["It folds in ten seconds, so it fits under any desk of any office."; 4]);
    });
}

#[test]
fn a_number_that_rises_at_first_goes_on() {
    check(None, |client, round| {
        let left = [58_920, 59_327, 58_712, 57_851, 56_949][round.min(4)] - round.saturating_sub(4) * 811;
        client.wait(10);
        client.tool("progress", &json!({"of": "index"}), &format!("building index, {left} blocks left to scan"));
    });
}

#[test]
fn one_after_the_other_is_refused_and_then_done() {
    check(None, |client, round| {
        let query = json!({"query": format!("alter table {} add column tenant uuid", words(round, 1))});
        client.tool("sql", &query, "ERROR: canceling statement due to lock timeout");
        if round % 2 == 1 {
            client.tool("sql", &json!({"query": "select terminate_backend(blocker)"}), "terminated (1 row)");
        }
        client.tool("sql", &query, "ALTER TABLE");
    });
}

#[test]
fn a_bisection_in_which_every_test_fails() {
    check(None, |client, round| {
        client.tool("bash", &json!({"command": "cargo test -q"}), "test import ... FAILED. 41 passed; 1 failed");
        let next = format!("Bisecting: {} revisions left\n{}", 900 - round, words(round, 4));
        client.tool("bash", &json!({"command": "git bisect bad"}), &next);
    });
}

#[test]
fn many_files_with_nothing_to_complain_of() {
    for verdict in ["No issues found.", "The file is valid: no errors and no warnings by version 2 of the schema."] {
        check(None, |client, round| {
            client.tool("validate_file", &json!({"path": format!("conf/{}.yaml", words(round, 1))}), verdict);
        });
    }
}
