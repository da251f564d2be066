//! Loops in errands, written before the rules were changed for the shapes of `trades` and never
//! used to choose a rule.

mod tools;
mod words_only;

use super::super::{Shape, rotate_forms};
use super::{agent, go_round};

pub(super) fn shapes() -> Vec<Shape> {
    rotate_forms(tools::shapes().into_iter().chain(words_only::shapes()))
}
