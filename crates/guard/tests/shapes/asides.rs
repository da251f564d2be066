//! What stands beside a call, a result or a prompt and says nothing of it: each loop with the
//! healthy work that is most like it.

use serde_json::json;

use crate::client::{Client, killed_at, words};

fn check(expected: Option<usize>, round: impl FnMut(&mut Client, usize)) {
    assert_eq!(killed_at(round), expected);
}

/// A result as Codex writes it.
fn headed(round: usize, code: u8, output: &str) -> String {
    let id = format!("{:06x}", 0x4f_e6ad + round * 7_919);
    format!("Chunk ID: {id}\nWall time: 0.{round} seconds\nProcess exited with code {code}\nOutput:\n{output}")
}

#[test]
fn the_same_command_with_other_limits() {
    check(Some(6), |client, round| {
        let limits = [1_000, 10_000, 30_000, 2_500, 60_000];
        let arguments =
            json!({"cmd": "ls build", "yield_time_ms": limits[round % 5], "max_output_tokens": 400 + round});
        client.tool("exec_command", &arguments, &headed(round, 0, "CMakeFiles"));
    });
}

#[test]
fn a_limit_is_tuned() {
    check(None, |client, round| {
        client.tool("update_pool", &json!({"name": "orders", "timeout": 10 + round}), "saved");
    });
}

#[test]
fn the_same_command_described_in_other_words() {
    check(Some(6), |client, round| {
        let arguments = json!({"command": "docker ps", "description": words(round, 4)});
        client.tool("Bash", &arguments, "no container is running here");
    });
}

#[test]
fn other_commands_described_in_the_same_words() {
    check(None, |client, round| {
        let arguments = json!({"command": format!("git show {}", words(round, 1)), "description": "Show what changed"});
        client.tool("Bash", &arguments, &format!("{} changed the importer of records, see below", words(round, 2)));
    });
}

#[test]
fn an_installation_with_other_flags_that_fails_behind_a_header() {
    check(Some(7), |client, round| {
        let arguments = json!({"cmd": format!("npm install --{}", words(round, 1))});
        let output = "npm says that the tree of packages is what it is: ERESOLVE";
        client.tool("exec_command", &arguments, &headed(round, 1, output));
    });
}

#[test]
fn an_edit_behind_a_header_before_each_test() {
    check(None, |client, round| match round % 2 {
        0 => {
            let arguments = json!({"cmd": format!("sed -i s/{}/x/ error.rs", words(round, 1))});
            client.tool("exec_command", &arguments, &headed(round, 0, "error.rs"));
        }
        _ => client.tool("exec_command", &json!({"cmd": "cargo test"}), &headed(round, 1, "1 failed")),
    });
}

#[test]
fn the_same_refusals_in_every_turn_of_a_game() {
    check(Some(6), |client, round| {
        let (act, result) = [("push door", "The door is locked."), ("shout", "Nobody hears you.")][round % 2];
        client.tool("act", &json!({ "command": act }), &format!("[turn {round}] {result}"));
    });
}

#[test]
fn a_game_goes_on() {
    check(None, |client, round| {
        let act = ["left", "down"][round % 2];
        client.tool("act", &json!({ "command": act }), &format!("[turn {round}] You see {}.", words(round, 2)));
    });
}

#[test]
fn an_agent_that_is_started_again_after_each_failure() {
    check(Some(8), |client, round| {
        let run = format!("run f47ac10b-58cc-4372-a567-{round:012x} at Tue, 27 Oct 2026 03:{:02}:54 GMT", round % 60);
        client.start_session(round, &format!("Deploy billing to production. [{run}]"));
        client.tool("deploy", &json!({"app": "billing"}), "error: the image of billing was not found");
        client.hear("The deployment failed because the image does not exist.");
    });
}

#[test]
fn users_ask_for_their_parcels() {
    check(None, |client, round| {
        let id = format!("f47ac10b-58cc-4372-a567-{round:012x}");
        client.start_session(round, &format!("Where is my parcel {id} now?"));
        client.tool("track", &json!({ "parcel": id }), "in transit");
        client.hear("Your parcel is on its way and will be with you tomorrow.");
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
