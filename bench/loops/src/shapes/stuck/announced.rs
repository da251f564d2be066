//! Work that is announced, begun or cleared away again and again, each time in another dress.

use serde_json::json;

use super::super::steps::begin;
use super::super::{Shape, shapes};
use super::{LAPS, go_round};
use crate::conversation::Tool;
use crate::material::{volatile, words};
use crate::run::Run;

pub(super) fn shapes() -> Vec<Shape> {
    shapes![true; job_restarts_with_id, report_is_announced, port_is_taken]
}

/// A supervisor starts the same task again under another id, in another session.
fn job_restarts_with_id(run: &mut Run) {
    go_round(run, 20, |run, _| {
        let session = Some(volatile::uuid(&mut run.rng));
        let mut chat = run.open_with("You are a job runner.", &["load_file"], session);
        let id = volatile::uuid(&mut run.rng).replace('-', "");
        chat.push_user(&format!(
            "Job {id}: load the price list prices.xlsx into the shop and report how many rows changed."
        ));
        run.act_failing(&mut chat, "", Tool::new("load_file", json!({"path": "prices.xlsx"})), "error: no prices.xlsx");
        run.answer(&mut chat, "Loading failed because prices.xlsx does not exist.");
    });
}

/// The report is announced in changing order, and idle look-ups follow.
fn report_is_announced(run: &mut Run) {
    let (_, mut chat) = begin(run);
    go_round(run, LAPS, |run, lap| {
        let say = run.rng.pick(&[
            "I have all the sources, so I will write the final report now.",
            "Now I have all the sources, so I will write the final report.",
            "I have all the sources now, so I will write the final report.",
        ]);
        let word = format!("{}{lap}", words::identifier(&mut run.rng));
        let found = run.rng.pick(&["(empty)", "ok", "a word of the harbour that is seldom used today"]);
        run.act(&mut chat, say, Tool::new("lookup_word", json!({"word": word})), found);
    });
}

/// What holds the port is killed, and something holds it again.
fn port_is_taken(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    go_round(run, 14, |run, _| {
        let process = run.rng.range(10_000..=60_000).to_string();
        let held = kit.output(&mut run.rng, &process, 0);
        run.act(&mut chat, "", kit.shell("lsof -ti :3000"), &held);
        let quiet = kit.output(&mut run.rng, "", 0);
        run.act(&mut chat, "", kit.shell(&format!("kill -9 {process}")), &quiet);
        let taken = kit.output(&mut run.rng, "Error: listen EADDRINUSE: address already in use :::3000", 1);
        run.act_failing(&mut chat, "Start the server again.", kit.shell("npm run dev"), &taken);
    });
}
