//! Stuck agents that write their actions as text.

use serde_json::{Value, json};

use super::go_round;
use crate::conversation::Conversation;
use crate::material::reworded::{self, spin};
use crate::material::words;
use crate::run::Run;
use crate::shapes::browser::page;
use crate::shapes::{Shape, shapes};

pub(super) fn shapes() -> Vec<Shape> {
    shapes![true;
        json_index_same_page, json_action_list, json_two_pages, numbered_element_same_page, react_same_lookup, keystrokes_same_screen,
        history_prompt_json_actions]
}

/// A conversation with a page in each message; `answer` gives what the model writes.
fn browse(run: &mut Run, pages: &[String], mut answer: impl FnMut(&mut Run, usize) -> Value) {
    let mut chat = run.open_with("You control a browser and answer with JSON only.", &[], None);
    chat.push_user(&format!("Task: order a {} to {}.", run.rng.pick(words::PRODUCTS), run.rng.pick(words::CITIES)));
    for number in 0..3 {
        let title = words::identifier(&mut run.rng);
        chat.push_user(&format!("[Current state starts here]\n{}", page(&mut run.rng, &title)));
        run.answer(&mut chat, &json!({"action": "click", "index": number * 7 + 2}).to_string());
    }
    go_round(run, 30 / pages.len(), |run, _| {
        for (place, shown) in pages.iter().enumerate() {
            chat.push_user(&format!("[Current state starts here]\n{shown}"));
            let text = answer(run, place).to_string();
            run.answer(&mut chat, &text);
        }
    });
}

fn json_index_same_page(run: &mut Run) {
    let shown = page(&mut run.rng, "Basket");
    browse(run, &[shown], |run, _| {
        let thought = reworded::again(&mut run.rng, "the button");
        json!({"thought": thought, "action": "click", "index": 5})
    });
}

/// The action is a list of objects, beside an evaluation that is worded anew.
fn json_action_list(run: &mut Run) {
    let shown = page(&mut run.rng, "Delivery");
    browse(run, &[shown], |run, _| {
        let evaluation =
            spin(&mut run.rng, "[Unknown|Failed|Unclear] - [the click had no effect|nothing changed|the page stayed]");
        let memory = reworded::again(&mut run.rng, "the form");
        json!({"current_state": {"evaluation_previous_goal": evaluation, "memory": memory, "next_goal": "Submit the form"},
            "action": [{"click_element_by_index": {"index": 14}}]})
    });
}

/// Forward and back between two pages.
fn json_two_pages(run: &mut Run) {
    let pages = [page(&mut run.rng, "Results"), page(&mut run.rng, "Details")];
    browse(run, &pages, |run, place| {
        let reason = reworded::again(&mut run.rng, "the other page");
        if place == 0 {
            json!({"reason": reason, "action": {"type": "click", "element": 3}})
        } else {
            json!({"reason": reason, "action": {"type": "back"}})
        }
    });
}

/// `Action: click [12]` on a page that does not react, in a prompt that shows the last action only.
fn numbered_element_same_page(run: &mut Run) {
    let objective = format!("Book a table in {}", run.rng.pick(words::CITIES));
    let shown = page(&mut run.rng, "Reservation");
    let mut last = "None".to_owned();
    go_round(run, 30, |run, _| {
        let mut chat = run.open_with("You are a web agent.", &[], None);
        chat.push_user(&format!(
            "OBSERVATION:\n{shown}\nURL: https://table.example\nOBJECTIVE: {objective}\nPREVIOUS ACTION: {last}"
        ));
        last = "click [12]".to_owned();
        let thought = reworded::again(&mut run.rng, "the date");
        run.answer(&mut chat, &format!("Thought: {thought}\nAction: {last}"));
    });
}

fn react_same_lookup(run: &mut Run) {
    let mut chat = run.open_with("Use Thought, Action and wait for the Observation.", &[], None);
    chat.push_user("Who painted the ceiling of the old theatre?");
    go_round(run, 30, |run, _| {
        let thought = spin(
            &mut run.rng,
            "[I should|Let me|I will|Time to] [look up|check|search for] the theatre [again|once more|now|in the index].",
        );
        run.answer(&mut chat, &format!("Thought: {thought}\nAction: lookup [old theatre ceiling]"));
        chat.push_user("Observation: The index has no entry with that name. Try a related one.");
    });
}

fn keystrokes_same_screen(run: &mut Run) {
    let mut chat: Conversation =
        run.open_with("Answer with JSON: analysis, plan, commands with keystrokes.", &[], None);
    chat.push_user(&words::task(&mut run.rng));
    go_round(run, 30, |run, _| {
        let analysis = reworded::again(&mut run.rng, "the installer");
        let answer = json!({"analysis": analysis, "plan": spin(&mut run.rng, "[Wait for it.|Try once more.|Run it.]"),
            "commands": [{"keystrokes": "./install.sh\n", "duration": 5}]});
        run.answer(&mut chat, &answer.to_string());
        chat.push_user(
            "New Terminal Output:\n\nroot@box:/app# ./install.sh\nUnpacking... cannot open archive\nroot@box:/app#",
        );
    });
}

/// Goal, page and all past actions in one prompt; the actions are JSON.
fn history_prompt_json_actions(run: &mut Run) {
    let shown = page(&mut run.rng, "Login");
    let mut past: Vec<String> = Vec::new();
    go_round(run, 30, |run, _| {
        let mut chat = run.open_with("", &[], None);
        chat.push_user(&format!(
            "# Goal\nDownload the invoice of March.\n\n# Page\n{shown}\n\n# Past actions\n{}\n\n# Next action",
            past.join("\n")
        ));
        let thought = reworded::again(&mut run.rng, "the button");
        run.answer(&mut chat, &format!("{thought}\n```json\n{{\"action\": \"click\", \"element\": \"34\"}}\n```"));
        past.push("{\"action\": \"click\", \"element\": \"34\"}".to_owned());
    });
}
