//! Healthy errands, written before the rules were changed for the shapes of `trades` and never used
//! to choose a rule.

mod desks;
mod machines;

use super::super::{Shape, rotate_forms};
use crate::conversation::Conversation;
use crate::run::Run;

pub(super) fn shapes() -> Vec<Shape> {
    rotate_forms(machines::shapes().into_iter().chain(desks::shapes()))
}

/// A conversation of an agent that names no session.
fn agent(run: &mut Run, system: &str, tools: &[&str], task: &str) -> Conversation {
    let mut chat = run.open_with(system, tools, None);
    chat.push_user(task);
    chat
}
