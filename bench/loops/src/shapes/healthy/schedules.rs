//! What repeats itself on a schedule, two minutes apart and more.

use serde_json::json;

use super::super::{Shape, shapes};
use crate::conversation::Tool;
use crate::material::words;
use crate::run::Run;

pub(super) fn shapes() -> Vec<Shape> {
    shapes![false; heartbeat, scheduled_report, scheduled_tool_check]
}

/// Sets a regular interval of two minutes and more.
fn regular(run: &mut Run) {
    let seconds = run.rng.pick(&[120, 180, 300, 600, 1_800]) * 1_000;
    run.pace = seconds - 400..=seconds + 400;
}

/// The same prompt, the same answer, a conversation of its own each time.
fn heartbeat(run: &mut Run) {
    regular(run);
    let prompt = "Read HEARTBEAT.md if it exists and follow it. If nothing needs attention, reply HEARTBEAT_OK.";
    for _ in 0..64 {
        let mut chat = run.open_with("You are a personal assistant that is always on.", &[], None);
        chat.push_user(prompt);
        run.answer(&mut chat, "HEARTBEAT_OK");
    }
}

/// One long conversation that gets the same request every few minutes.
fn scheduled_report(run: &mut Run) {
    regular(run);
    let mut chat = run.open_with("You watch a shop and report.", &[], None);
    for _ in 0..62 {
        chat.push_user("Write the status of the last interval in one line.");
        let text = if run.rng.chance(70) {
            "All services are up.".to_owned()
        } else {
            format!("All services are up; {} orders from {}.", run.rng.range(2..=40), run.rng.pick(words::CITIES))
        };
        run.answer(&mut chat, &text);
    }
}

/// A tool is asked on a schedule; it usually has nothing.
fn scheduled_tool_check(run: &mut Run) {
    let seconds = run.rng.pick(&[120, 240, 600]) * 1_000;
    for _ in 0..32 {
        let mut chat = run.open_with("You sort the inbox.", &["list_unread"], None);
        chat.push_user("Check for new mail and file it.");
        run.pace = 2_000..=2_200;
        run.act(&mut chat, "", Tool::new("list_unread", json!({})), "[]");
        run.pace = seconds - 2_300..=seconds - 2_000;
        run.answer(&mut chat, "No new mail.");
    }
}
