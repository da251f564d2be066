//! Stuck agents that write their log into one prompt.

use super::go_round;
use crate::material::{reworded, words};
use crate::run::Run;
use crate::shapes::logbook::Logbook;
use crate::shapes::{Shape, shapes};

pub(super) fn shapes() -> Vec<Shape> {
    shapes![true; logbook_same_outcome, logbook_same_refusal, logbook_three_places, logbook_nothing_found]
}

/// An agent that has done something before it gets stuck.
fn begun(run: &mut Run) -> Logbook {
    let mut log = Logbook::new(run);
    for _ in 0..5 {
        let (thought, seen) = (words::remark(&mut run.rng), words::task(&mut run.rng));
        let object = words::identifier(&mut run.rng);
        log.step(run, &thought, ("read", &object), &seen);
    }
    log
}

fn logbook_same_outcome(run: &mut Run) {
    let mut log = begun(run);
    let gate = words::identifier(&mut run.rng);
    go_round(run, 34, |run, _| {
        let thought = reworded::again(&mut run.rng, "the gate");
        log.step(run, &thought, ("push", &gate), "It does not move.");
    });
}

/// Other commands, and the same refusal.
fn logbook_same_refusal(run: &mut Run) {
    let mut log = begun(run);
    go_round(run, 34, |run, number| {
        let thought = reworded::again(&mut run.rng, "the store");
        let tool = run.rng.pick(&["mount", "attach", "connect"]);
        let object = format!("store-{number}");
        log.step(run, &thought, (tool, &object), "Error: permission denied by the storage server");
    });
}

fn logbook_three_places(run: &mut Run) {
    let mut log = begun(run);
    let places = [("north", "A kitchen with a cold stove."), ("east", "A pantry."), ("south", "A hall with a clock.")];
    go_round(run, 14, |run, _| {
        for (way, seen) in places {
            let thought = words::remark(&mut run.rng);
            log.step(run, &thought, ("go", way), seen);
        }
    });
}

fn logbook_nothing_found(run: &mut Run) {
    let mut log = begun(run);
    let topic = run.rng.pick(words::PEOPLE);
    go_round(run, 34, |run, _| {
        let (thought, query) = (reworded::again(&mut run.rng, "a search"), reworded::query(&mut run.rng, topic));
        log.step(run, &thought, ("search", &query), &format!("No entry matches {query}."));
    });
}
