//! Many conversations of one agent that all make progress.

use serde_json::json;

use super::super::steps::{begin, edit, explore, finish};
use super::super::{Shape, shapes};
use crate::conversation::{Conversation, Kit, Tool};
use crate::material::words;
use crate::run::Run;

pub(super) fn shapes() -> Vec<Shape> {
    let mut shapes = shapes![false; many_busy_conversations, workers_from_one_template, subagents_in_parallel];
    shapes.extend(shapes![false; subagents_different_tasks].into_iter().map(Shape::with_codex));
    shapes
}

/// Sixty-four conversations take turns.
fn many_busy_conversations(run: &mut Run) {
    run.pace = 50..=400;
    let mut chats: Vec<(Kit, Conversation)> = (0..64).map(|_| open_worker(run)).collect();
    for _ in 0..6 {
        for (kit, chat) in &mut chats {
            if run.rng.chance(50) { explore(run, chat, *kit, 1) } else { edit(run, chat, *kit, "src/shared.rs") }
        }
    }
}

fn open_worker(run: &mut Run) -> (Kit, Conversation) {
    let kit = run.kit();
    let task = words::task(&mut run.rng);
    let session = run.session();
    let mut chat = run.open_with(kit.system(), &kit.tools(), session);
    chat.push_user(&task);
    (kit, chat)
}

/// A main agent starts sub-agents for different parts of the code with the same frame of words.
fn subagents_different_tasks(run: &mut Run) {
    let (kit, mut main) = begin(run);
    let name = run.rng.pick(&["Task", "spawn_agent", "delegate"]);
    for module in run.rng.sample(words::MODULES, 12) {
        let noun = run.rng.pick(words::NOUNS);
        let brief = format!("Find every place in {module} where a {noun} is used, and report files and lines.");
        let mut child = run.open(kit, &brief);
        explore(run, &mut child, kit, 3);
        let report = format!("{module}: {} places, the first in {}.", run.rng.range(2..=30), words::path(&mut run.rng));
        run.answer(&mut child, &report);
        run.act(&mut main, "", Tool::new(name, json!({"description": "search", "prompt": brief})), &report);
    }
    finish(run, &mut main);
}

/// Workers that begin with the same system prompt and the same first looks, then go different ways.
fn workers_from_one_template(run: &mut Run) {
    for module in run.rng.sample(words::MODULES, 9) {
        let kit = run.kit();
        let mut chat = run.open(kit, &format!("Write the missing documentation of the module {module}."));
        let listing = words::MODULES.join("\n");
        let listing = kit.output(&mut run.rng, &listing, 0);
        run.act(&mut chat, "I start by looking at the project.", kit.shell("ls src"), &listing);
        explore(run, &mut chat, kit, 4);
        (0..2).for_each(|_| edit(run, &mut chat, kit, &format!("src/{module}/mod.rs")));
        run.answer(&mut chat, &format!("The module {module} is documented."));
    }
}

/// Sub-agents with different tasks work at the same time under one session id.
fn subagents_in_parallel(run: &mut Run) {
    let kit = run.kit();
    let session = run.session();
    run.pace = 300..=1_500;
    let mut children: Vec<Conversation> = Vec::new();
    for module in run.rng.sample(words::MODULES, 6) {
        let mut chat = run.open_with(kit.system(), &kit.tools(), session.clone());
        chat.push_user(&format!(
            "Review the module {module} for a {} {}.",
            run.rng.pick(words::ADJECTIVES),
            run.rng.pick(words::NOUNS)
        ));
        children.push(chat);
    }
    for _ in 0..11 {
        for chat in &mut children {
            explore(run, chat, kit, 1);
        }
    }
}
