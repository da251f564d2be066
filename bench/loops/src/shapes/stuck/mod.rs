//! Loops. Missing one of these is a mistake.

mod announced;
mod browsers;
mod crowds;
mod cycles;
mod errands;
mod errors;
mod fixed;
mod logbook;
mod plans;
mod rebuilt;
mod searches;
mod started_over;
mod talk;
mod text_agents;
mod trades;
mod tries;
mod volatile_parts;

use super::Shape;
use crate::conversation::Conversation;
use crate::run::Run;

pub(super) fn shapes() -> Vec<Shape> {
    let mut shapes = fixed::shapes();
    shapes.extend(volatile_parts::shapes());
    shapes.extend(cycles::shapes());
    shapes.extend(errors::shapes());
    shapes.extend(searches::shapes());
    shapes.extend(plans::shapes());
    shapes.extend(talk::shapes());
    shapes.extend(started_over::shapes());
    shapes.extend(text_agents::shapes());
    shapes.extend(rebuilt::shapes());
    shapes.extend(logbook::shapes());
    shapes.extend(browsers::shapes());
    shapes.extend(crowds::shapes());
    shapes.extend(tries::shapes());
    shapes.extend(trades::shapes());
    shapes.extend(errands::shapes());
    shapes.extend(announced::shapes());
    shapes
}

/// Calls of a loop after its first repetition: long enough that missing it costs something.
const LAPS: usize = 40;

/// A conversation of an agent that names no session.
fn agent(run: &mut Run, system: &str, tools: &[&str], task: &str) -> Conversation {
    let mut chat = run.open_with(system, tools, None);
    chat.push_user(task);
    chat
}

/// Goes round `count` times; the second lap is the first that is stuck.
fn go_round(run: &mut Run, count: usize, mut lap: impl FnMut(&mut Run, usize)) {
    for number in 0..count {
        if number == 1 {
            run.mark_stuck();
        }
        lap(run, number);
    }
}
