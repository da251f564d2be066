//! The same again from the start: triggers with ids, rounds of samples, stuck conversations among
//! busy ones.

use serde_json::json;

use super::{agent, go_round};
use crate::conversation::{Answer, Conversation, Tool};
use crate::material::volatile::uuid;
use crate::material::words;
use crate::rng::{BASE62, CROCKFORD, HEX, URL_SAFE};
use crate::run::Run;
use crate::shapes::{Shape, shapes};

pub(super) fn shapes() -> Vec<Shape> {
    shapes![true; trigger_with_ids, rounds_of_six, eight_stuck_workers, one_stuck_of_eighty, same_trigger_irregular]
}

/// The same event under another id each time.
fn trigger_with_ids(run: &mut Run) {
    go_round(run, 30, |run, lap| {
        let id = match lap % 5 {
            0 => run.rng.text(HEX, 32),
            1 => format!("01J{}", run.rng.text(CROCKFORD, 23)),
            2 => run.rng.text(URL_SAFE, 21),
            3 => format!("evt_{}", run.rng.text(BASE62, 16)),
            _ => uuid(&mut run.rng),
        };
        let prompt = format!(
            "Event {id}: the import of supplier data failed with a timeout. Decide what to do and answer in one sentence."
        );
        let mut chat = agent(run, "You handle events.", &[], &prompt);
        run.answer(&mut chat, "I would start the import again once the supplier's server answers.");
    });
}

/// Six samples at once, round after round.
fn rounds_of_six(run: &mut Run) {
    let chat = agent(run, "Solve it.", &[], "Prove that the sum of two odd numbers is even, in three sentences.");
    for round in 0..24 {
        run.pace = 0..=20;
        for sample in 0..6 {
            if round > 0 && sample == 0 {
                run.mark_stuck_call();
            }
            let text = words::task(&mut run.rng);
            run.send(&chat, Some(&Answer { text, calls: Vec::new() }));
        }
        run.wait(4_000..=7_000);
    }
}

/// One step of a conversation that gets nowhere.
fn poll_nothing(run: &mut Run, chat: &mut Conversation) {
    run.act(chat, "", Tool::new("next_job", json!({})), "no job for this worker");
}

/// Eight workers, each in a loop of its own.
fn eight_stuck_workers(run: &mut Run) {
    run.pace = 100..=600;
    let mut chats: Vec<Conversation> = (0..8)
        .map(|worker| {
            agent(
                run,
                "You are a worker.",
                &["next_job"],
                &format!("Worker {worker} of {}: take jobs.", words::CITIES[worker]),
            )
        })
        .collect();
    for round in 0..30 {
        for (worker, chat) in chats.iter_mut().enumerate() {
            if round > 0 && worker == 0 {
                run.mark_stuck_call();
            }
            poll_nothing(run, chat);
        }
    }
}

/// One of eighty conversations is stuck; the others work.
fn one_stuck_of_eighty(run: &mut Run) {
    run.pace = 20..=120;
    let mut chats: Vec<Conversation> = (0..80)
        .map(|_| {
            let task = words::task(&mut run.rng);
            agent(run, "You enter orders.", &["enter", "next_job"], &task)
        })
        .collect();
    for round in 0..16 {
        for (place, chat) in chats.iter_mut().enumerate() {
            if place == 40 {
                if round > 0 {
                    run.mark_stuck_call();
                }
                poll_nothing(run, chat);
                continue;
            }
            let input = json!({"order": run.rng.range(1..=90_000), "customer": run.rng.pick(words::PEOPLE)});
            run.act(chat, "", Tool::new("enter", input), "entered");
        }
    }
}

/// The same record triggers the agent at no regular time.
fn same_trigger_irregular(run: &mut Run) {
    run.pace = 10_000..=60_000;
    go_round(run, 26, |run, _| {
        let mut chat =
            agent(run, "You route tickets.", &["ticket"], "Ticket T-4411 has changed. Assign it to the right team.");
        run.act(
            &mut chat,
            "",
            Tool::new("ticket", json!({"id": "T-4411"})),
            "Subject: badge reader broken. Team: facilities.",
        );
        run.answer(&mut chat, "T-4411 is already with facilities.");
    });
}
