//! Agents that write their actions as text and get on with their work.

use serde_json::json;

use crate::material::reworded::spin;
use crate::material::{code, words};
use crate::run::Run;
use crate::shapes::browser::page;
use crate::shapes::{Shape, shapes};

pub(super) fn shapes() -> Vec<Shape> {
    shapes![false; json_actions_on_new_pages, numbered_elements_on_new_pages, keystrokes_and_screens, react_without_tools]
}

/// One JSON object with an action and an index in each answer; every page is another.
fn json_actions_on_new_pages(run: &mut Run) {
    let mut chat = run.open_with("Answer with JSON: {\"thought\", \"action\", \"index\", \"text\"}.", &[], None);
    chat.push_user("Compare the prices of five rail passes.");
    for _ in 0..64 {
        let title = words::identifier(&mut run.rng);
        chat.push_user(&format!("Interactive elements:\n{}", page(&mut run.rng, &title)));
        let thought =
            spin(&mut run.rng, "[I open the next result.|The price is further down.|This page has what I need.]");
        let action = run.rng.pick(&["click", "click", "scroll_down", "extract"]);
        let answer = json!({"thought": thought, "action": action, "index": run.rng.range(1..=40)});
        run.answer(&mut chat, &answer.to_string());
    }
}

/// `Action: click [12]`; element numbers repeat on other pages.
fn numbered_elements_on_new_pages(run: &mut Run) {
    while run.len() < 64 {
        let mut last = "None".to_owned();
        let objective = format!("Find the opening hours of the museum in {}", run.rng.pick(words::CITIES));
        for _ in 0..run.rng.count(8..=14) {
            let title = words::identifier(&mut run.rng);
            let shown = page(&mut run.rng, &title);
            let mut chat = run.open_with("You are a web agent.", &[], None);
            chat.push_user(&format!(
                "OBSERVATION:\n{shown}\nURL: https://museum.example\nOBJECTIVE: {objective}\nPREVIOUS ACTION: {last}"
            ));
            last = format!("click [{}]", run.rng.range(1..=9));
            let thought = words::remark(&mut run.rng);
            run.answer(&mut chat, &format!("Thought: {thought}\nAction: {last}"));
        }
    }
}

/// Keystrokes in JSON, the terminal's screen as the next message.
fn keystrokes_and_screens(run: &mut Run) {
    let mut chat = run.open_with("Answer with JSON: analysis, plan, commands with keystrokes.", &[], None);
    chat.push_user(&words::task(&mut run.rng));
    for step in 0..64 {
        let command = if step % 2 == 0 {
            format!("cat {}", words::path(&mut run.rng))
        } else {
            format!("echo '{}' >> notes", code::line(&mut run.rng))
        };
        let answer = json!({"analysis": words::remark(&mut run.rng), "plan": "Go on with the next file.",
            "commands": [{"keystrokes": format!("{command}\n"), "duration": 0.5}]});
        run.answer(&mut chat, &answer.to_string());
        let screen = if step % 2 == 0 { code::lines(&mut run.rng, 4) } else { String::new() };
        chat.push_user(&format!("New Terminal Output:\n\nroot@box:/app# {command}\n{screen}\nroot@box:/app#"));
    }
}

/// Thought and action as text; some look-ups fail, the others give something new.
fn react_without_tools(run: &mut Run) {
    let mut chat = run.open_with("Use Thought, Action and wait for the Observation.", &[], None);
    chat.push_user("Which of these towns has the oldest bridge?");
    for step in 0..66 {
        let (city, noun) = (run.rng.pick(words::CITIES), run.rng.pick(words::NOUNS));
        let thought = words::remark(&mut run.rng);
        run.answer(&mut chat, &format!("Thought: {thought}\nAction: lookup [{city} {noun} {step}]"));
        let seen = if run.rng.chance(25) {
            format!("No article about {city} {noun} {step}.")
        } else {
            words::task(&mut run.rng)
        };
        chat.push_user(&format!("Observation: {seen}"));
    }
}
