//! Loops of agents of other trades: operations, offices, laboratories, service desks. Tools, words,
//! languages and paces differ from those of the other shapes.

mod cycles;
mod rounds;
mod searches;
mod talk;
mod text;
mod volatile;

use super::super::{Shape, rotate_forms};
use super::{agent, go_round};
use crate::conversation::{Conversation, Tool};
use crate::run::Run;

pub(super) fn shapes() -> Vec<Shape> {
    let families =
        [volatile::shapes(), cycles::shapes(), searches::shapes(), text::shapes(), talk::shapes(), rounds::shapes()];
    rotate_forms(families.into_iter().flatten())
}

/// A step of work that is new and succeeds, before the loop begins.
fn begin_work(run: &mut Run, chat: &mut Conversation, tool: &str) {
    for _ in 0..run.rng.count(1..=4) {
        let (noun, text) = (run.rng.pick(crate::material::words::NOUNS), crate::material::words::task(&mut run.rng));
        run.act(chat, "", Tool::new(tool, serde_json::json!({ "name": noun })), &text);
    }
}
