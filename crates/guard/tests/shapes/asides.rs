//! What stands beside a call, a result or a prompt and says nothing of it, each loop with the healthy
//! work that is most like it.

use serde_json::json;

use crate::client::{Client, killed_at, words};

fn check(expected: Option<usize>, round: impl FnMut(&mut Client, usize)) {
    assert_eq!(killed_at(round), expected);
}

#[test]
fn other_commands_described_in_the_same_words() {
    check(None, |client, round| {
        let arguments = json!({"command": format!("git show {}", words(round, 1)), "description": "Show what changed"});
        client.tool("Bash", &arguments, &format!("{} changed the importer of records, see below", words(round, 2)));
    });
}

#[test]
fn a_screenshot_after_each_action() {
    check(None, |client, round| match round % 2 {
        0 => client.tool("computer", &json!({"action": "left_click", "coordinate": [round, 593]}), "ok"),
        _ => client.tool_with_image("computer", &json!({"action": "screenshot"}), &format!("iVBORw0KGgo{round:08}==")),
    });
}

#[test]
fn a_screen_that_stays_the_same() {
    check(Some(6), |client, round| match round % 2 {
        0 => client.tool("computer", &json!({"action": "left_click", "coordinate": [333, 593]}), "ok"),
        _ => client.tool_with_image("computer", &json!({"action": "screenshot"}), "iVBORw0KGgo4fQ=="),
    });
}

#[test]
fn one_bisection_after_the_other() {
    check(None, |client, round| {
        // No rhythm: which half has the fault is anyone's guess.
        let is_good = round * 7 % 11 % 3 == 0;
        let mark = format!("git bisect {}", if is_good { "good" } else { "bad" });
        let left = format!("Bisecting: {} revisions left to test after this\n{}", 1_000 - round, words(round, 2));
        let arguments = |command: &str| json!({"command": command, "description": "Run git"});
        client.tool("Bash", &arguments(&mark), &left);
        client.tool("Bash", &arguments("make -s check"), if is_good { "ok" } else { "FAIL: wrong total" });
    });
}

#[test]
fn everything_from_a_queue_fails_alike() {
    check(Some(17), |client, round| match round % 2 {
        0 => client.tool("next_item", &json!({}), &words(round, 12)),
        _ => client.tool("save", &json!({"label": "a"}), "Error: the label is not permitted"),
    });
}

const MODELS: [&str; 5] = ["one", "two", "three", "four", "five"];

#[test]
fn several_models_are_asked_at_once() {
    check(None, |client, round| {
        client.start_over(&format!("When do the trains {} meet? Give one line.", words(round, 3)));
        client.sample_models(&MODELS.map(|model| (model, "Answer: at noon")));
    });
}

#[test]
fn several_models_are_asked_the_same_round_after_round() {
    check(Some(26), |client, _| client.sample_models(&MODELS.map(|model| (model, "Answer: they meet at noon"))));
}
