//! Stuck conversations among many.

use super::super::steps::{edit, explore};
use super::super::{Shape, shapes};
use super::fixed::any_step;
use crate::conversation::{Conversation, Kit, Tool};
use crate::material::words;
use crate::run::Run;

pub(super) fn shapes() -> Vec<Shape> {
    shapes![true; one_stuck_among_64, one_stuck_among_150, hundred_stuck, eight_workers_stuck]
}

struct Worker {
    kit: Kit,
    chat: Conversation,
    step: (Tool, String),
}

fn worker(run: &mut Run) -> Worker {
    let kit = run.kit();
    let session = run.session();
    let mut chat = run.open_with(kit.system(), &kit.tools(), session);
    chat.push_user(&words::task(&mut run.rng));
    let step = any_step(run, kit);
    Worker { kit, chat, step }
}

/// One conversation repeats itself while the others work. Others end after a few steps and new ones
/// come.
fn one_among(run: &mut Run, others: usize) {
    run.pace = 20..=120;
    let mut stuck = worker(run);
    let mut busy: Vec<Worker> = (0..others).map(|_| worker(run)).collect();
    for lap in 0..18 {
        if lap > 0 {
            run.mark_stuck_call();
        }
        let (tool, result) = stuck.step.clone();
        run.act(&mut stuck.chat, "", tool, &result);
        for other in &mut busy {
            if lap % 5 == 4 {
                *other = worker(run);
            }
            let Worker { kit, chat, .. } = other;
            if run.rng.chance(50) { explore(run, chat, *kit, 1) } else { edit(run, chat, *kit, "src/shared.rs") }
        }
    }
}

fn one_stuck_among_64(run: &mut Run) {
    one_among(run, 64);
}

fn one_stuck_among_150(run: &mut Run) {
    one_among(run, 150);
}

/// Every one of them repeats a step of its own.
fn all_stuck(run: &mut Run, count: usize, laps: usize) {
    let mut workers: Vec<Worker> = (0..count).map(|_| worker(run)).collect();
    run.pace = 20..=9_000 / count as i64 + 20;
    for lap in 0..laps {
        for (place, Worker { chat, step: (tool, result), .. }) in workers.iter_mut().enumerate() {
            // The waste is that of one conversation, else it would grow with their number.
            if place == 0 && lap > 0 {
                run.mark_stuck_call();
            }
            run.act(chat, "", tool.clone(), result);
        }
    }
}

fn hundred_stuck(run: &mut Run) {
    all_stuck(run, 100, 15);
}

fn eight_workers_stuck(run: &mut Run) {
    all_stuck(run, 8, 40);
}
