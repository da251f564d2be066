//! Healthy work of agents of other trades: operations, offices, laboratories, games, service desks.
//! Tools, words, languages and paces differ from those of the other shapes.

mod changes;
mod crowds;
mod laboratory;
mod operations;
mod text;
mod waits;

use super::super::{Shape, rotate_forms};
use crate::conversation::Conversation;
use crate::run::Run;

pub(super) fn shapes() -> Vec<Shape> {
    let families = [
        changes::shapes(),
        operations::shapes(),
        waits::shapes(),
        laboratory::shapes(),
        crowds::shapes(),
        text::shapes(),
    ];
    rotate_forms(families.into_iter().flatten())
}

/// A conversation of an agent that names no session.
fn agent(run: &mut Run, system: &str, tools: &[&str], task: &str) -> Conversation {
    let mut chat = run.open_with(system, tools, None);
    chat.push_user(task);
    chat
}
