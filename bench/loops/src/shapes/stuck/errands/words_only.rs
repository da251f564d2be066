//! Loops in text.

use serde_json::json;

use super::{agent, go_round};
use crate::clock::rfc3339;
use crate::conversation::Tool;
use crate::material::reworded::spin;
use crate::material::words;
use crate::run::Run;
use crate::shapes::browser::page;
use crate::shapes::{Shape, shapes};

pub(super) fn shapes() -> Vec<Shape> {
    shapes![true; plan_in_german, fenced_json_same_click, scratchpad_no_entry, helpers_for_one_task, farewells]
}

fn plan_in_german(run: &mut Run) {
    let mut chat = agent(run, "Du planst erst und handelst dann.", &["schreibe"], "Schreibe die Hausordnung neu.");
    go_round(run, 30, |run, _| {
        let plan = spin(
            &mut run.rng,
            "[Mein Plan|Der überarbeitete Plan|So gehe ich vor]: [1. Alte Fassung lesen|1. Bestand aufnehmen], [2. Lücken finden|2. Mängel notieren], \
            [3. Neu schreiben|3. Entwurf erstellen], [4. Prüfen lassen|4. Durchsehen]. [Ich beginne gleich.|Dann fange ich an.]",
        );
        run.answer(&mut chat, &plan);
        chat.push_user(&spin(&mut run.rng, "[Gut, fang an.|Ja, bitte.|Leg los.|Einverstanden.]"));
    });
}

/// A page with a clock; the same click in a fenced block of JSON.
fn fenced_json_same_click(run: &mut Run) {
    let shown = page(&mut run.rng, "Ticket shop");
    let mut past: Vec<String> = Vec::new();
    go_round(run, 30, |run, _| {
        let mut chat = run.open_with("You act on web pages.", &[], None);
        chat.push_user(&format!(
            "## Goal\nBuy two tickets.\n\n## Current page\nIt is {}\n{shown}\n\n## Previous actions\n{}",
            rfc3339(run.now),
            past.join("\n")
        ));
        let thought = spin(
            &mut run.rng,
            "[I press the button|Pressing the button|The button must be pressed] [again|now|once more].",
        );
        let action = json!({"action_type": "CLICK", "element_id": 17}).to_string();
        run.answer(&mut chat, &format!("{thought}\n```json\n{action}\n```"));
        past.push(action);
    });
}

fn scratchpad_no_entry(run: &mut Run) {
    let mut prompt =
        "Answer with Thought, Action and Observation.\nQuestion: Which ship brought the bell to the island?\n"
            .to_owned();
    go_round(run, 30, |run, lap| {
        let number = lap + 1;
        let mut chat = run.open_with("", &[], None);
        chat.push_user(&format!("{prompt}Thought {number}:"));
        let query = spin(&mut run.rng, "[bell|church bell|island bell] [ship|vessel|boat] [name|history|record|]");
        let said = format!(
            "{}\nAction {number}: Search[{query}]",
            spin(&mut run.rng, "[I should search|Let me search|I try] [again|differently|more precisely].")
        );
        run.answer(&mut chat, &said);
        prompt += &format!("Thought {number}: {said}\nObservation {number}: There is no entry for {query}.\n");
    });
}

fn helpers_for_one_task(run: &mut Run) {
    let mut chat = agent(run, "You coordinate helpers.", &["spawn_agent"], "Get the minutes of the last meeting.");
    go_round(run, 26, |run, _| {
        let brief = spin(
            &mut run.rng,
            "[Get|Fetch|Obtain|Retrieve] the [minutes|protocol|notes] of [the last|our latest|the most recent] [meeting|session] [please|]",
        );
        let mut child = run.open_with("You are a helper.", &["drive_search"], None);
        child.push_user(&brief);
        run.act(
            &mut child,
            "",
            Tool::new("drive_search", json!({"name": "minutes"})),
            "You have no access to this drive.",
        );
        run.answer(&mut child, "I have no access to the drive, so I cannot get the minutes.");
        run.act(
            &mut chat,
            "",
            Tool::new("spawn_agent", json!({ "prompt": brief })),
            "I have no access to the drive, so I cannot get the minutes.",
        );
    });
}

/// Two agents that take leave of each other and never go.
fn farewells(run: &mut Run) {
    let session = run.session();
    let mut chat = run.open_with("You speak for the supplier.", &[], session);
    chat.push_user(&words::task(&mut run.rng));
    go_round(run, 30, |run, _| {
        let own = spin(
            &mut run.rng,
            "[Goodbye|Farewell|Take care|All the best], and [thanks again|many thanks|thank you] for [everything|your time|the call]! [Until next time.|See you soon.|Have a great day.]",
        );
        run.answer(&mut chat, &own);
        chat.push_user(&spin(&mut run.rng, "[Bye|Goodbye|Cheers], [thanks to you, too|the same to you|likewise]! [Have a good one.|See you.|Talk soon.]"));
    });
}
