//! Agents that rebuild one prompt at every step, in a layout of their own, and get on.

use crate::material::words;
use crate::run::Run;
use crate::shapes::rebuilt::{Action, Operator, screen};
use crate::shapes::{Shape, shapes};

pub(super) fn shapes() -> Vec<Shape> {
    shapes![false; rebuilt_form_for_many, rebuilt_pages_of_rows, rebuilt_rows_deleted, rebuilt_searches]
}

fn rebuilt_form_for_many(run: &mut Run) {
    let mut operator = Operator::new(run);
    for _ in 0..22 {
        let (name, team) = (words::identifier(&mut run.rng), run.rng.pick(words::CITIES));
        let form = |name: &str, team: &str| {
            let mut form = screen(&["New member", "Save"]);
            form.extend([format!("Name = '{name}'"), format!("Team = '{team}'")]);
            form
        };
        operator.step(run, &form("", ""), "The next one.", &Action { name: "type", target: "Name", text: &name });
        operator.step(run, &form(&name, ""), "Now the team.", &Action { name: "type", target: "Team", text: team });
        operator.step(run, &form(&name, team), "It is complete.", &Action { name: "click", target: "Save", text: "" });
    }
}

/// Only numbers differ from page to page.
fn rebuilt_pages_of_rows(run: &mut Run) {
    let mut operator = Operator::new(run);
    for _ in 0..64 {
        let mut shown = screen(&["Measurements", "Next page"]);
        shown.extend((0..6).map(|_| format!("{} | {}", run.rng.range(100..=999), run.rng.range(1_000..=9_999))));
        operator.step(run, &shown, "I noted these.", &Action { name: "click", target: "Next page", text: "" });
    }
}

/// A list that gets shorter, and shows nothing else.
fn rebuilt_rows_deleted(run: &mut Run) {
    let mut operator = Operator::new(run);
    let rows: Vec<String> = (0..70).map(|_| words::identifier(&mut run.rng)).collect();
    for first in 0..64 {
        let mut shown = screen(&["Drafts", "Delete the first one"]);
        shown.extend_from_slice(&rows[first..]);
        operator.step(run, &shown, "One more.", &Action { name: "click", target: "Delete the first one", text: "" });
    }
}

fn rebuilt_searches(run: &mut Run) {
    let mut operator = Operator::new(run);
    let mut shown = screen(&["Archive", "Query"]);
    for _ in 0..64 {
        let query = format!("{} {}", run.rng.pick(words::PEOPLE), run.rng.pick(words::NOUNS));
        let thought = format!("Now {query}.");
        operator.step(run, &shown, &thought, &Action { name: "search", target: "Query", text: &query });
        shown.truncate(2);
        shown.extend((0..4).map(|_| words::task(&mut run.rng)));
    }
}
