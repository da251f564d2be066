//! Retries of calls that failed, and samples of one prompt.

use super::super::steps::{begin, edit, finish};
use super::super::{Shape, shapes};
use crate::conversation::Answer;
use crate::material::words;
use crate::run::Run;

pub(super) fn shapes() -> Vec<Shape> {
    shapes![false; retries_after_429, retries_after_overload, cut_streams, samples_of_one_prompt]
}

/// Failed attempts before the next step, with the pauses of an SDK.
fn failing_steps(run: &mut Run, share: u64, pauses: &[i64]) {
    let (kit, mut chat) = begin(run);
    while run.len() < 70 {
        if run.rng.chance(share) {
            for pause in pauses.iter().take(run.rng.count(1..=pauses.len())) {
                run.pace = *pause..=*pause * 5 / 4;
                run.send(&chat, None);
            }
            run.pace = 2_000..=8_000;
        }
        let path = words::path(&mut run.rng);
        edit(run, &mut chat, kit, &path);
    }
    finish(run, &mut chat);
}

fn retries_after_429(run: &mut Run) {
    failing_steps(run, 25, &[500, 1_000, 2_000, 4_000]);
}

/// Overload lasts longer: more attempts with longer pauses.
fn retries_after_overload(run: &mut Run) {
    failing_steps(run, 15, &[1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 32_000]);
}

/// The stream breaks off: the answer is partial, the same request is sent again.
fn cut_streams(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    while run.len() < 66 {
        if run.rng.chance(30) {
            for _ in 0..run.rng.count(1..=2) {
                let whole = words::task(&mut run.rng);
                let text: String = whole.chars().take(run.rng.count(0..=60)).collect();
                run.send(&chat, Some(&Answer { text, calls: Vec::new() }));
            }
        }
        let path = words::path(&mut run.rng);
        edit(run, &mut chat, kit, &path);
    }
    finish(run, &mut chat);
}

/// Eight answers to one prompt at once, then another prompt: one round of samples each.
fn samples_of_one_prompt(run: &mut Run) {
    let count = run.rng.count(4..=16);
    while run.len() < 64 {
        let mut chat = run.open_with("Solve the task; end with the answer.", &[], None);
        chat.push_user(&words::task(&mut run.rng));
        run.pace = 0..=40;
        for _ in 0..count {
            let text = format!("The answer is {}.", run.rng.pick(words::NOUNS));
            run.send(&chat, Some(&Answer { text, calls: Vec::new() }));
        }
        run.wait(4_000..=20_000);
    }
}
