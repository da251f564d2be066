//! Plans that are rewritten and never begun, and work that begins again after every compaction.

use serde_json::json;

use super::super::steps::{begin, explore, shell};
use super::super::{Shape, shapes};
use super::LAPS;
use crate::conversation::Tool;
use crate::material::{code, reworded, words};
use crate::run::Run;

pub(super) fn shapes() -> Vec<Shape> {
    let codex = shapes![true; plan_churn, compaction_same_work];
    let mut shapes: Vec<Shape> = codex.into_iter().map(Shape::with_codex).collect();
    shapes.extend(shapes![true; compaction_new_summary, compaction_only, think_tool_churn]);
    shapes
}

/// The plan tool again and again with reworded steps.
fn plan_churn(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    let topic = run.rng.pick(words::MODULES);
    for lap in 0..LAPS {
        if lap == 1 {
            run.mark_stuck();
        }
        let steps = reworded::plan(&mut run.rng, topic);
        let say = reworded::again(&mut run.rng, "a better plan");
        run.act(&mut chat, &say, kit.plan(&steps, 0), kit.planned());
    }
}

/// A thinking tool that gives nothing back.
fn think_tool_churn(run: &mut Run) {
    let (_, mut chat) = begin(run);
    let topic = run.rng.pick(words::MODULES);
    for lap in 0..LAPS {
        if lap == 1 {
            run.mark_stuck();
        }
        let thought =
            format!("{} {}", reworded::brief(&mut run.rng, topic), reworded::again(&mut run.rng, "the analysis"));
        run.act(&mut chat, "", Tool::new("think", json!({ "thought": thought })), "Your thought has been logged.");
    }
}

/// The steps that every life of the agent takes before its history is full again.
fn one_life(run: &mut Run, chat: &mut crate::conversation::Conversation, kit: crate::conversation::Kit, seed: &str) {
    let mut fixed = crate::rng::Rng::named(seed, 0);
    for path in words::paths(&mut fixed, 5) {
        let text = code::listing(&mut fixed, 1, 8);
        let say = words::remark(&mut run.rng);
        run.act(chat, &say, kit.read(&path), &text);
    }
    shell(run, chat, kit, ("cargo test -q", "error: could not compile `app` (lib) due to 1 previous error", 101));
}

/// Compaction with always the same summary, then the same work from the start.
fn compaction_same_work(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    let task = words::task(&mut run.rng);
    let seed = words::identifier(&mut run.rng);
    for life in 0..8 {
        if life == 1 {
            run.mark_stuck();
        }
        chat.clear();
        chat.push_user(&format!("This session continues an earlier one that ran out of context. The task: {task}"));
        one_life(run, &mut chat, kit, &seed);
    }
}

/// The same, with a summary in other words each time.
fn compaction_new_summary(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    let task = words::task(&mut run.rng);
    let seed = words::identifier(&mut run.rng);
    for life in 0..8 {
        if life == 1 {
            run.mark_stuck();
        }
        chat.clear();
        let state = reworded::plan(&mut run.rng, &seed).join(", ");
        chat.push_user(&format!(
            "Summary of the conversation so far: {task} {}. Open: {state}.",
            words::remark(&mut run.rng)
        ));
        one_life(run, &mut chat, kit, &seed);
    }
}

/// Compaction that frees nothing and is asked for at once again.
fn compaction_only(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    explore(run, &mut chat, kit, 4);
    for lap in 0..LAPS {
        if lap == 1 {
            run.mark_stuck();
        }
        let mut asked = chat.clone();
        asked.push_user("Your task is to create a detailed summary of the conversation so far.");
        let summary = format!(
            "Summary: the user wants the {} repaired. {}",
            run.rng.pick(&["importer", "parser"]),
            words::remark(&mut run.rng)
        );
        run.answer(&mut asked, &summary);
    }
}
