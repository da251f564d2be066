//! Loops behind other words, other places and long pauses.

use serde_json::json;

use crate::client::{Client, killed_at, words};

/// Plays rounds until the kill and checks at which call it comes.
fn check(expected: usize, round: impl FnMut(&mut Client, usize)) {
    assert_eq!(killed_at(round), Some(expected));
}

#[test]
fn the_same_announcement_before_looks_at_ever_other_things() {
    check(13, |client, round| {
        let say = "Now I have enough context and write the document with all the details that were asked for.";
        client.say_and_call(say, "read_file", &json!({"path": words(round, 1)}), &words(round, 12));
    });
}

#[test]
fn the_same_failure_slowly_and_at_no_regular_time() {
    check(10, |client, round| {
        client.wait([31, 74, 45, 88, 52, 39][round % 6]);
        client.tool("valve_state", &json!({"id": "V7"}), "Error: the controller rejected the credentials");
    });
}

#[test]
fn searches_without_output_by_a_tool_that_takes_a_command() {
    check(12, |client, round| {
        client.tool("run", &json!({"command": format!("find /srv/{} -name '*.lic'", words(round, 1))}), "");
    });
}

#[test]
fn the_same_action_written_as_json() {
    check(5, |client, round| {
        let action = json!({"thought": words(round, 8), "action": "click", "index": 5});
        client.hear(&action.to_string());
        client.say("Current url: https://shop.example\n[5] button 'Buy'\n[6] link 'Back'");
    });
}

#[test]
fn the_same_action_in_json_on_a_page_that_is_sent_anew() {
    check(6, |client, round| {
        let page = "Current url: https://shop.example/cart\nInteractive elements:\n[14] button 'Proceed to checkout'";
        client.start_over(&format!("Task: buy the blue kettle.\nStep {} of 50\n{page}", round + 1));
        let action = json!({"thought": words(round, 12), "action": [{"click_element": {"index": 14}}]});
        client.hear(&action.to_string());
    });
}
