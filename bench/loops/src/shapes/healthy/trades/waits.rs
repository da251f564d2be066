//! Waiting for something that goes on at its own pace.

use serde_json::json;

use super::agent;
use crate::conversation::Tool;
use crate::material::reworded::spin;
use crate::material::words;
use crate::run::Run;
use crate::shapes::{Shape, shapes};

pub(super) fn shapes() -> Vec<Shape> {
    shapes![false;
        render_frames, training_log, record_propagates, rollout_with_wait_tool, upload_grows, review_checks, worker_asks_for_tasks,
        lines_in_log]
}

fn render_frames(run: &mut Run) {
    let mut chat =
        agent(run, "You run a render farm.", &["get_render"], "Render the trailer and tell me when it is done.");
    run.pace = 3_000..=9_000;
    let mut frames = 0;
    while run.len() < 70 {
        frames += if run.rng.chance(70) { run.rng.range(3..=30) } else { 0 };
        let seen = format!(r#"{{"job":"trailer","frames_done":{frames},"frames_total":4800,"state":"rendering"}}"#);
        run.act(&mut chat, "", Tool::new("get_render", json!({"job": "trailer"})), &seen);
    }
}

/// The loss falls, with noise; the step count rises.
fn training_log(run: &mut Run) {
    let mut chat = agent(run, "You train models.", &["bash"], "Watch the training and stop it if it diverges.");
    run.pace = 9_000..=16_000;
    for step in 1..=66 {
        let loss = 4.2 - 0.04 * f64::from(step) + run.rng.range(-9..=9) as f64 / 100.0;
        let line =
            format!("step {} | loss {loss:.3} | lr 3.0e-4 | {} tok/s", step * 50, run.rng.range(11_000..=12_500));
        let say = if run.rng.chance(40) {
            spin(&mut run.rng, "[Still falling.|Good.|Let us see how it goes.]")
        } else {
            String::new()
        };
        run.act(&mut chat, &say, Tool::new("bash", json!({"command": "tail -n 1 train.log"})), &line);
    }
}

/// The old address fifteen times, 25 seconds apart; then the new one, and the next record.
fn record_propagates(run: &mut Run) {
    let mut chat =
        agent(run, "You move domains.", &["dns_lookup", "update_record"], "Move all records to the new provider.");
    while run.len() < 64 {
        let name = format!("{}.example.org", run.rng.pick(words::MODULES));
        let update = json!({"name": name, "value": "203.0.113.8"});
        run.act(&mut chat, "", Tool::new("update_record", update), "accepted");
        let lookup = Tool::new("dns_lookup", json!({"name": name, "type": "A"}));
        for _ in 0..15 {
            run.wait(21_000..=28_000);
            run.act(&mut chat, "", lookup.clone(), "198.51.100.20");
        }
        run.act(&mut chat, "", lookup, "203.0.113.8");
    }
}

/// A wait in a call of its own, then the status, which stays the same for long.
fn rollout_with_wait_tool(run: &mut Run) {
    let mut chat =
        agent(run, "You deploy services.", &["wait", "rollout_status"], "Roll out the release to all regions.");
    while run.len() < 66 {
        let region = run.rng.pick(words::CITIES).to_lowercase();
        let status = Tool::new("rollout_status", json!({ "region": region }));
        for _ in 0..run.rng.count(10..=15) {
            run.act(&mut chat, "", Tool::new("wait", json!({"seconds": 45})), "ok");
            run.wait(45_000..=46_000);
            run.act(&mut chat, "", status.clone(), "progressing: 2 of 3 replicas updated");
        }
        run.act(&mut chat, "", status, "complete");
    }
}

/// The number of bytes grows with every look, a second or two apart.
fn upload_grows(run: &mut Run) {
    let mut chat = agent(run, "You move backups.", &["upload_state"], "Upload the backup and verify it.");
    run.pace = 1_000..=2_500;
    let mut bytes = 1_048_576;
    for _ in 0..70 {
        bytes += run.rng.range(200_000..=3_000_000);
        let seen = format!("uploading backup.tar: {bytes} of 9034551296 bytes");
        run.act(&mut chat, "", Tool::new("upload_state", json!({"id": "backup"})), &seen);
    }
}

/// Checks of a pull request every half a minute; nothing changes for a dozen looks.
fn review_checks(run: &mut Run) {
    let mut chat = agent(run, "You merge pull requests.", &["get_check_runs"], "Merge it as soon as all checks pass.");
    run.pace = 28_000..=32_000;
    let mut done = 0;
    for look in 0..64 {
        done += usize::from(look % 12 == 11);
        let states: Vec<&str> = (0..6).map(|check| if check < done { "success" } else { "queued" }).collect();
        let seen = json!({ "conclusions": states }).to_string();
        run.act(&mut chat, "", Tool::new("get_check_runs", json!({"ref": "feature"})), &seen);
    }
}

/// A member of a team asks for tasks; now and then there is one.
fn worker_asks_for_tasks(run: &mut Run) {
    let mut chat = agent(
        run,
        "You are one of several workers.",
        &["claim_task", "report_result"],
        "Take tasks until told to stop.",
    );
    while run.len() < 66 {
        for _ in 0..run.rng.count(6..=12) {
            run.wait(20_000..=40_000);
            run.act(&mut chat, "", Tool::new("claim_task", json!({"worker": "w3"})), r#"{"task": null}"#);
        }
        let task = words::plan_steps(&mut run.rng, 1).join("");
        run.act(&mut chat, "", Tool::new("claim_task", json!({"worker": "w3"})), &json!({ "task": task }).to_string());
        let report = json!({"task": task, "result": words::remark(&mut run.rng)});
        run.act(&mut chat, "", Tool::new("report_result", report), "thanks");
    }
}

/// The number of lines in a growing file, with times when nothing is written.
fn lines_in_log(run: &mut Run) {
    let mut chat = agent(run, "You watch imports.", &["shell"], "Tell me when the import has stopped.");
    run.pace = 4_000..=7_000;
    let mut lines = 120;
    for look in 0..66 {
        lines += if look % 5 == 4 { 0 } else { run.rng.range(1..=90) };
        run.act(
            &mut chat,
            "",
            Tool::new("shell", json!({"command": "wc -l import.log"})),
            &format!("{lines} import.log"),
        );
    }
}
