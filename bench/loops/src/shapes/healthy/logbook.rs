//! Agents that write their log into one prompt, and get on.

use crate::material::words;
use crate::run::Run;
use crate::shapes::logbook::Logbook;
use crate::shapes::{Shape, shapes};

pub(super) fn shapes() -> Vec<Shape> {
    shapes![false; logbook_of_supplies, logbook_of_edits_while_red, logbook_of_places, logbook_of_checks]
}

/// Collecting and using go on with the same few actions, and only counts show it.
fn logbook_of_supplies(run: &mut Run) {
    let mut log = Logbook::new(run);
    let (mut ore, mut bars) = (0, 0);
    for step in 0..64 {
        let (done, outcome) = if step % 3 == 2 {
            (ore, bars) = (ore - 1, bars + 3);
            (("smelt", "ore"), format!("You hold {ore} ore and {bars} bars."))
        } else {
            ore += 1;
            (("dig", "vein"), format!("You hold {ore} ore and {bars} bars."))
        };
        let thought = words::remark(&mut run.rng);
        log.step(run, &thought, done, &outcome);
    }
}

/// The build says the same until the last of many edits.
fn logbook_of_edits_while_red(run: &mut Run) {
    let mut log = Logbook::new(run);
    for _ in 0..32 {
        let (thought, change) = (words::remark(&mut run.rng), words::task(&mut run.rng));
        let path = words::path(&mut run.rng);
        log.step(run, &thought, ("edit", &format!("{path}: {change}")), "written");
        let thought = words::remark(&mut run.rng);
        log.step(run, &thought, ("make", "all"), "stopped: one target is not up to date");
    }
}

fn logbook_of_places(run: &mut Run) {
    let mut log = Logbook::new(run);
    for _ in 0..64 {
        let (thought, seen) = (words::remark(&mut run.rng), words::task(&mut run.rng));
        log.step(run, &thought, ("go", "north"), &format!("A room with a note: {seen}"));
    }
}

/// Many things are in the same state.
fn logbook_of_checks(run: &mut Run) {
    let mut log = Logbook::new(run);
    for number in 0..64 {
        let thought = words::remark(&mut run.rng);
        let valve = format!("{}-{number}", words::identifier(&mut run.rng));
        log.step(run, &thought, ("inspect", &valve), "closed");
    }
}
