//! Agents that write their actions, or their whole history, as text; and messages behind the
//! results of tools.

use serde_json::json;

use crate::client::{Client, killed_at, words};

/// Plays rounds until there were many calls: healthy work is never stopped.
fn check_healthy(round: impl FnMut(&mut Client, usize)) {
    assert_eq!(killed_at(round), None);
}

/// Plays rounds that are stuck from the first one on: they are stopped after at most twelve calls.
fn check_stuck(round: impl FnMut(&mut Client, usize)) {
    let killed_at = killed_at(round);
    assert!(killed_at.is_some_and(|call| call <= 13), "{killed_at:?}");
}

/// A prompt that shows the page and the last action.
fn page_prompt(page: &str, round: usize, action: &str) -> String {
    let action = if round == 0 { "None" } else { action };
    format!("OBSERVATION:\n{page}\nURL: http://shop.example/\nOBJECTIVE: Find a lamp\nPREVIOUS ACTION: {action}")
}

/// A prompt that shows every step so far.
fn scratchpad(steps: usize, step: impl Fn(usize) -> (String, String)) -> String {
    let mut prompt = String::from("Question: Who built the bridge?\nThought 1:");
    for number in 1..=steps {
        let (query, result) = step(number);
        let said = format!(" I look for {}.\nAction {number}: Search[{query}]\n", words(number, 5));
        prompt.push_str(&format!("{said}Observation {number}: {result}\nThought {}:", number + 1));
    }
    prompt
}

#[test]
fn scrolling_through_new_pages_is_healthy() {
    check_healthy(|client, round| {
        client.start_over(&page_prompt(&words(round, 30), round, "scroll [down]"));
        client.hear("scroll [down]");
    });
}

#[test]
fn a_page_that_never_changes_is_a_loop() {
    check_stuck(|client, round| {
        let page = |round: usize| format!("[{}] link 'Lamps'\n[{}] link 'Tables'", 100 + round * 37, 101 + round * 37);
        let id = 100 + round.saturating_sub(1) * 37;
        client.start_over(&page_prompt(&page(round), round, &format!("click [{id}] where [{id}] is link 'Lamps'")));
        client.hear(&format!("I see {}. The next action is ```click [{}]```", words(round, 8), 100 + round * 37));
    });
}

#[test]
fn a_scratchpad_with_new_searches_is_healthy() {
    check_healthy(|client, round| {
        client.start_over(&scratchpad(round, |number| (words(number, 2), words(number + 70, 12))));
        client.hear(&format!("I look for {}.\nAction {}: Search[{}]", words(round, 5), round + 1, words(round + 1, 2)));
    });
}

#[test]
fn a_scratchpad_with_the_same_search_is_a_loop() {
    check_stuck(|client, round| {
        client.start_over(&scratchpad(round, |_| ("bridge".to_owned(), "Could not find it.".to_owned())));
        client.hear(&format!("I look for {}.\nAction {}: Search[bridge]", words(round, 5), round + 1));
    });
}

#[test]
fn a_reminder_behind_every_new_result_is_healthy() {
    check_healthy(|client, round| {
        client.tool("read", &json!({"path": words(round, 1)}), &words(round + 70, 20));
        client.say("Reminder: keep to the rules of this project, and do not stop before all of it works.");
    });
}

#[test]
fn a_reminder_behind_the_same_result_is_a_loop() {
    check_stuck(|client, round| {
        client.tool("make", &json!({"target": "all"}), "error: no rule to make the target");
        client.say(&format!("This was step {round} of 100. Go on until it works."));
    });
}
