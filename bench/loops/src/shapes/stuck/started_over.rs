//! Conversations that are started over: triggers, sub-agents, rounds of samples, the same question
//! with other numbers.

use serde_json::json;

use super::super::steps::{begin, explore};
use super::super::{Shape, shapes};
use super::LAPS;
use crate::conversation::{Answer, Tool};
use crate::material::{code, reworded, words};
use crate::run::Run;

pub(super) fn shapes() -> Vec<Shape> {
    shapes![true;
        same_question_other_numbers, trigger_every_90_seconds, same_record_irregular, subagents_same_task,
        subagents_nested, sample_rounds, same_session_restarted, same_question_slowly]
}

fn same_question_other_numbers(run: &mut Run) {
    let product = run.rng.pick(words::PRODUCTS);
    for lap in 0..LAPS {
        if lap == 1 {
            run.mark_stuck();
        }
        let mut chat = run.open_with("You answer questions about orders.", &[], None);
        chat.push_user(&format!(
            "What is the status of order #{} for the {product}, please?",
            run.rng.range(10_000..=99_999)
        ));
        run.answer(&mut chat, "I could not find that order. Please check the number and try again.");
    }
}

/// A heartbeat that fires too often.
fn trigger_every_90_seconds(run: &mut Run) {
    run.pace = 89_500..=90_500;
    let prompt =
        "Read HEARTBEAT.md and follow it strictly. Do not repeat old tasks. If nothing needs attention, reply OK.";
    for lap in 0..30 {
        if lap == 1 {
            run.mark_stuck();
        }
        let mut chat = run.open_with("You are a personal assistant.", &[], None);
        chat.push_user(prompt);
        run.answer(&mut chat, "Nothing needs attention. OK");
    }
}

/// One record triggers the agent again and again at no regular time.
fn same_record_irregular(run: &mut Run) {
    let record = format!("INC{}", run.rng.range(10_000..=99_999));
    run.pace = 15_000..=170_000;
    for lap in 0..30 {
        if lap == 1 {
            run.mark_stuck();
        }
        let mut chat = run.open_with("You triage incidents.", &["get_incident"], None);
        chat.push_user(&format!("Incident {record} was updated. Triage it and set its priority."));
        let tool = Tool::new("get_incident", json!({ "id": record }));
        run.act(&mut chat, "", tool, r#"{"priority": 3, "state": "open", "summary": "Printer offline"}"#);
        run.answer(&mut chat, &format!("{record} stays at priority 3."));
    }
}

/// The same asked again and again, slowly and at no regular time.
fn same_question_slowly(run: &mut Run) {
    let task = words::task(&mut run.rng);
    run.pace = 30_000..=110_000;
    for lap in 0..30 {
        if lap == 1 {
            run.mark_stuck();
        }
        let mut chat = run.open_with("You are a coding assistant.", &[], None);
        chat.push_user(&task);
        run.answer(&mut chat, "I need the failing test to begin with. Which one is it?");
    }
}

/// The main agent starts a sub-agent for one topic, is not content, and starts the next with other
/// words.
fn subagents_same_task(run: &mut Run) {
    let (kit, mut main) = begin(run);
    let topic = format!(
        "how the {} handles a {} {}",
        run.rng.pick(words::MODULES),
        run.rng.pick(words::ADJECTIVES),
        run.rng.pick(words::NOUNS)
    );
    let seed = words::identifier(&mut run.rng);
    let report = format!("I found nothing conclusive about {topic}.");
    // Some clients send one session id for an agent and all its sub-agents.
    let shared = if run.rng.chance(50) { run.session() } else { None };
    for lap in 0..16 {
        if lap == 1 {
            run.mark_stuck();
        }
        let brief = reworded::brief(&mut run.rng, &topic);
        let mut child = run.open_with(kit.system(), &kit.tools(), shared.clone());
        child.push_user(&brief);
        let mut fixed = crate::rng::Rng::named(&seed, 0);
        let path = words::path(&mut fixed);
        run.act(&mut child, "", kit.read(&path), &code::listing(&mut fixed, 1, 6));
        run.answer(&mut child, &report);
        run.act(&mut main, "", Tool::new("Task", json!({"description": "research", "prompt": brief})), &report);
    }
}

/// Each sub-agent hands the same brief to a sub-agent of its own.
fn subagents_nested(run: &mut Run) {
    let kit = run.kit();
    let brief = words::task(&mut run.rng);
    for depth in 0..24 {
        if depth == 1 {
            run.mark_stuck();
        }
        let mut chat = run.open(kit, &brief);
        let say = reworded::again(&mut run.rng, "a sub-agent");
        let tool = Tool::new("Task", json!({"description": "delegate", "prompt": brief}));
        run.act(&mut chat, &say, tool, "Sub-agent started.");
        run.answer(&mut chat, "I wait for the report of the sub-agent.");
    }
}

/// The same request several at a time, round after round: sampling is one round.
fn sample_rounds(run: &mut Run) {
    let count = run.rng.count(4..=20);
    let mut chat = run.open_with("Solve the task.", &[], None);
    chat.push_user(&words::task(&mut run.rng));
    let answer = words::task(&mut run.rng);
    for round in 0..30 {
        run.pace = 0..=30;
        for sample in 0..count {
            // The waste is counted in rounds.
            if round > 0 && sample == 0 {
                run.mark_stuck_call();
            }
            let text =
                if run.rng.chance(50) { answer.clone() } else { format!("{answer} {}", words::remark(&mut run.rng)) };
            run.send(&chat, Some(&Answer { text, calls: Vec::new() }));
        }
        run.wait(3_000..=9_000);
    }
}

/// A session that crashes and is started again with the same task, under a new session id.
fn same_session_restarted(run: &mut Run) {
    let kit = run.kit();
    let task = words::task(&mut run.rng);
    let seed = words::identifier(&mut run.rng);
    for life in 0..14 {
        if life == 1 {
            run.mark_stuck();
        }
        let mut chat = run.open(kit, &task);
        let mut fixed = crate::rng::Rng::named(&seed, 0);
        for path in words::paths(&mut fixed, 3) {
            let text = code::listing(&mut fixed, 1, 6);
            run.act(&mut chat, "", kit.read(&path), &text);
        }
        if life == 0 {
            explore(run, &mut chat, kit, 1);
        }
    }
}
