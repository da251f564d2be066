//! Tries that change nothing that matters, searches without end, and agents that are begun anew.

use serde_json::json;

use super::super::steps::begin;
use super::super::{Shape, shapes};
use super::{agent, go_round};
use crate::conversation::Tool;
use crate::material::{reworded, words};
use crate::run::Run;

pub(super) fn shapes() -> Vec<Shape> {
    shapes![true;
        timeout_raised, searches_for_everything, event_starts_agent, both_sides_thank, status_in_spaced_json]
}

/// A timeout is raised once more; what it waits for does not run.
fn timeout_raised(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    let path = words::path(&mut run.rng);
    let mut timeout = 5;
    go_round(run, 16, |run, _| {
        let (old, new) = (format!("TIMEOUT = {timeout} # seconds"), format!("TIMEOUT = {} # seconds", timeout + 5));
        timeout += 5;
        let say = reworded::again(&mut run.rng, "the timeout");
        run.act(&mut chat, &say, kit.edit(&path, &old, &new), &kit.edited(&path));
        let refused = "E   ConnectionRefusedError: [Errno 111] Connection refused: ('127.0.0.1', 5432)\n1 failed";
        let result = kit.output(&mut run.rng, refused, 1);
        run.act_failing(&mut chat, "", kit.shell("pytest -q tests/test_scheduler.py"), &result);
    });
}

/// Ever other words, and nothing is found.
fn searches_for_everything(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    go_round(run, 30, |run, _| {
        let name = words::identifier(&mut run.rng);
        run.act(&mut chat, "", kit.search(&name, "src"), "No matches found");
    });
}

/// One event starts the agent every 40 to 50 seconds; it looks and says what should be done.
fn event_starts_agent(run: &mut Run) {
    let event = run.rng.range(10_000..=99_999).to_string();
    let mailbox = run.rng.pick(words::MODULES);
    go_round(run, 20, |run, _| {
        let task = format!("Event {event} arrived: mailbox '{mailbox}' is over its quota. Decide what to do.");
        let mut chat = agent(run, "You act on events.", &["get_event"], &task);
        run.pace = 300..=900;
        let seen = json!({"mailbox": mailbox, "used": "101 %"}).to_string();
        run.act(&mut chat, "", Tool::new("get_event", json!({ "id": event })), &seen);
        run.pace = 40_000..=50_000;
        let advice = reworded::again(&mut run.rng, "the mailbox");
        run.answer(&mut chat, &advice);
    });
}

/// Both sides of a talk are agents of one name: each passes on what the other answered.
fn both_sides_thank(run: &mut Run) {
    let task = words::task(&mut run.rng);
    let mut sides = [
        agent(run, "You speak for the buyer.", &[], &task),
        agent(run, "You speak for the seller.", &[], &format!("The buyer says: {task}")),
    ];
    run.pace = 300..=900;
    let mut said = reworded::thanks(&mut run.rng);
    go_round(run, 24, |run, _| {
        for side in &mut sides {
            side.push_user(&said);
            said = reworded::thanks(&mut run.rng);
            run.answer(side, &said);
        }
    });
}

/// The same state behind ids and durations, in JSON with spaces.
fn status_in_spaced_json(run: &mut Run) {
    let (_, mut chat) = begin(run);
    let tool = Tool::new("get_deployment", json!({"name": run.rng.pick(words::MODULES)}));
    go_round(run, 30, |run, _| {
        let id = run.rng.text(crate::rng::BASE62, 20);
        let took = run.rng.range(11..=48);
        let seen = format!(r#"{{"state": "degraded", "healthy": false, "request_id": "req_{id}", "took_ms": {took}}}"#);
        run.act(&mut chat, "", tool.clone(), &seen);
    });
}
