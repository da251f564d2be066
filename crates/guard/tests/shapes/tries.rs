//! Tries, waits and beginnings: each loop with the healthy work that is most like it.

use serde_json::json;

use crate::client::{Client, killed_at, words};

fn check(expected: Option<usize>, round: impl FnMut(&mut Client, usize)) {
    assert_eq!(killed_at(round), expected);
}

fn edit(client: &mut Client, path: &str, text: &str) {
    client.tool("Edit", &json!({"file_path": path, "new_string": text}), "The file has been updated.");
}

const REFUSED: &str = "E   ConnectionRefusedError: [Errno 111] Connection refused\n1 failed";

#[test]
fn a_timeout_that_is_raised_again_and_again() {
    check(Some(11), |client, round| match round % 2 {
        0 => edit(client, "conftest.py", &format!("TIMEOUT = {} # seconds", 5 + round * 5)),
        _ => client.tool("bash", &json!({"command": "pytest -q"}), REFUSED),
    });
}

#[test]
fn numbers_that_are_changed_in_one_place_after_the_other() {
    check(None, |client, round| match round % 2 {
        0 => edit(client, &format!("{}.py", words(round, 1)), "TIMEOUT = 30 # seconds"),
        _ => client.tool("bash", &json!({"command": "pytest -q"}), REFUSED),
    });
    // Another outcome each time.
    check(None, |client, round| match round % 2 {
        0 => edit(client, "train.py", &format!("steps = {} # in all", 5 + round * 5)),
        _ => client.tool("bash", &json!({"command": "python train.py"}), &format!("{} is best", words(round, 3))),
    });
}

/// What Codex shows of a terminal.
fn terminal(round: usize, wait: usize, state: &str, output: &str) -> String {
    let id = format!("{:06x}", 0x4f_e6ad + round * 7_919);
    format!("Chunk ID: {id}\nWall time: {wait}.0 seconds\nProcess {state}\nOutput:\n{output}")
}

const POLL: &str = r#"{"session_id":7,"chars":"","yield_time_ms":8000}"#;

#[test]
fn a_terminal_in_which_a_long_build_says_nothing() {
    check(None, |client, round| {
        client.wait(8);
        let shown = terminal(round, 8, "running with session ID 7", if round % 30 == 29 { "linking" } else { "" });
        client.tool("write_stdin", &serde_json::from_str(POLL).unwrap(), &shown);
    });
}

#[test]
fn a_terminal_whose_program_has_ended() {
    check(Some(5), |client, round| {
        let shown = terminal(round, 0, "exited with code 0", "");
        client.tool("write_stdin", &serde_json::from_str(POLL).unwrap(), &shown);
    });
}

#[test]
fn an_event_that_starts_the_agent_again_and_again() {
    check(Some(8), |client, round| {
        client.wait([47, 44, 52, 39][round % 4]);
        client.start_over("Event 55120: the mailbox of claims is over its quota. Decide what to do.");
        client.tool("get_event", &json!({"id": "55120"}), r#"{"mailbox":"claims","used":"101 %"}"#);
        client.hear(&words(round, 12));
    });
}

#[test]
fn the_same_look_after_a_wait_in_one_conversation() {
    check(None, |client, round| {
        client.wait([47, 44, 52, 39][round % 4]);
        client.tool("get_event", &json!({"id": "55120"}), r#"{"mailbox":"claims","used":"101 %"}"#);
    });
}

#[test]
fn input_that_still_crashes_is_cut_down() {
    let crash = |left: usize| format!("ERROR: heap-buffer-overflow in read_tag\n{left} bytes left\nexit code 1");
    check(None, |client, round| {
        let cut = format!("./cut crash.bin {} && ./decoder crash.bin", round * 7_919 % 4_001);
        client.tool("bash", &json!({ "command": cut }), &crash(900_000 - 9_000 * round));
    });
    // The same without getting on.
    check(Some(7), |client, round| {
        let cut = format!("./cut crash.bin {} && ./decoder crash.bin", round * 7_919 % 4_001);
        client.tool("bash", &json!({ "command": cut }), &crash(900_000 - 9_000 * (round % 2)));
    });
}
