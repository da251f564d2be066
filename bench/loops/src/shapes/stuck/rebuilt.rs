//! Stuck agents that rebuild one prompt at every step, in a layout of their own.

use super::go_round;
use crate::material::{reworded, words};
use crate::run::Run;
use crate::shapes::rebuilt::{Action, Operator, screen};
use crate::shapes::{Shape, shapes};

pub(super) fn shapes() -> Vec<Shape> {
    shapes![true; rebuilt_button_that_complains, rebuilt_two_screens, rebuilt_field_that_stays_empty, rebuilt_reworded_search]
}

/// An agent that has seen some screens before it gets stuck.
fn begun(run: &mut Run) -> Operator {
    let mut operator = Operator::new(run);
    for _ in 0..6 {
        let shown = [words::identifier(&mut run.rng), words::task(&mut run.rng)];
        let (thought, target) = (words::remark(&mut run.rng), words::identifier(&mut run.rng));
        operator.step(run, &shown, &thought, &Action { name: "open", target: &target, text: "" });
    }
    operator
}

fn rebuilt_button_that_complains(run: &mut Run) {
    let mut operator = begun(run);
    let shown = screen(&["Expense report", "Cost center = ''", "Submit", "Fill in the cost center."]);
    go_round(run, 30, |run, _| {
        let thought = reworded::again(&mut run.rng, "the report");
        operator.step(run, &shown, &thought, &Action { name: "click", target: "Submit", text: "" });
    });
}

fn rebuilt_two_screens(run: &mut Run) {
    let mut operator = begun(run);
    go_round(run, 15, |run, _| {
        for (shown, target) in [(["Tariffs", "Details"], "Details"), (["Valid until revoked", "Back"], "Back")] {
            let thought = reworded::again(&mut run.rng, "the other screen");
            operator.step(run, &screen(&shown), &thought, &Action { name: "click", target, text: "" });
        }
    });
}

fn rebuilt_field_that_stays_empty(run: &mut Run) {
    let mut operator = begun(run);
    let shown = screen(&["Search", "Word = ''", "Go", "Enter a word."]);
    let word = words::identifier(&mut run.rng);
    go_round(run, 15, |run, _| {
        for (name, target, text) in [("type", "Word", word.as_str()), ("click", "Go", "")] {
            let thought = reworded::again(&mut run.rng, "the search");
            operator.step(run, &shown, &thought, &Action { name, target, text });
        }
    });
}

fn rebuilt_reworded_search(run: &mut Run) {
    let mut operator = begun(run);
    let shown =
        screen(&["Archive", "Query", "Nothing matches these words.", "Tips: use fewer words, check the spelling"]);
    let topic = run.rng.pick(words::PEOPLE);
    go_round(run, 30, |run, _| {
        let (thought, query) = (reworded::again(&mut run.rng, "a search"), reworded::query(&mut run.rng, topic));
        operator.step(run, &shown, &thought, &Action { name: "search", target: "Query", text: &query });
    });
}
