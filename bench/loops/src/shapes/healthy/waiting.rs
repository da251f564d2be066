//! Waiting for something that goes on elsewhere.

use serde_json::json;

use super::super::steps::{begin, edit, finish, shell};
use super::super::{Shape, shapes};
use crate::conversation::{Client, Conversation, Kit, Tool};
use crate::material::{code, outputs, words};
use crate::run::Run;

pub(super) fn shapes() -> Vec<Shape> {
    let codex = shapes![false;
        poll_percent, poll_last_line, poll_bytes, poll_same_then_change, sleep_then_status, ci_checks, poll_terminal];
    let mut shapes: Vec<Shape> = codex.into_iter().map(Shape::with_codex).collect();
    shapes.extend(shapes![false;
        teammate_task_list, queue_drains, training_epochs, poll_json_progress, poll_slow_percent, poll_stages]);
    shapes
}

/// Sets the time between calls to one interval, a second to half a minute.
fn interval(run: &mut Run) {
    let seconds = run.rng.pick(&[1, 2, 3, 5, 10, 20, 30]) * 1_000;
    run.pace = seconds..=seconds + 400;
}

/// A status call of one of many services.
fn status_call(run: &mut Run, kit: Kit) -> Tool {
    let job = format!("{}-{}", run.rng.pick(words::MODULES), run.rng.range(100..=999));
    match run.rng.below(4) {
        0 => kit.shell(&format!("./jobs status {job}")),
        1 => Tool::new("get_job_status", json!({ "job_id": job })),
        2 => Tool::new("mcp__deploy__status", json!({ "name": job })),
        _ => Tool::new("check_progress", json!({ "task": job, "verbose": false })),
    }
}

/// Jobs one after the other, each polled until it is done. `report` tells what a poll shows at a
/// share of the way.
fn poll_jobs(run: &mut Run, polls: usize, report: impl Fn(&mut Run, usize) -> String) {
    let (kit, mut chat) = begin(run);
    while run.len() < 62 {
        interval(run);
        let tool = status_call(run, kit);
        for step in 0..polls {
            let result = report(run, step);
            run.act(&mut chat, "", tool.clone(), &result);
        }
        run.pace = 2_000..=8_000;
        let path = words::path(&mut run.rng);
        edit(run, &mut chat, kit, &path);
    }
    finish(run, &mut chat);
}

fn poll_percent(run: &mut Run) {
    let words = run.rng.pick(&["Progress: {}%", "{}% complete", "Uploading… {} %", "[=====     ] {}%"]);
    poll_jobs(run, 34, move |run, step| words.replace("{}", &(step * 3 + run.rng.count(0..=2)).min(100).to_string()))
}

fn poll_json_progress(run: &mut Run) {
    let total = run.rng.range(2_000..=90_000);
    poll_jobs(run, 30, move |run, step| {
        let done = total * step as i64 / 30 + run.rng.range(0..=20);
        json!({"status": "running", "processed": done, "total": total}).to_string()
    })
}

/// The last line of a log, another one each time.
fn poll_last_line(run: &mut Run) {
    poll_jobs(run, 31, |run, step| format!("[{}/400] Compiling {}", 5 + step * 9, words::identifier(&mut run.rng)))
}

fn poll_bytes(run: &mut Run) {
    let step_bytes = run.rng.range(30_000..=900_000);
    poll_jobs(run, 32, move |run, step| {
        format!("-rw-r--r-- 1 dev dev {} backup.tar", step as i64 * step_bytes + run.rng.range(0..=9_999))
    })
}

fn queue_drains(run: &mut Run) {
    let start = run.rng.range(300..=4_000);
    poll_jobs(run, 32, move |_, step| format!("{} messages in queue", start - start * step as i64 / 33))
}

fn training_epochs(run: &mut Run) {
    poll_jobs(run, 32, |run, step| {
        let loss = 3.0 / (step as f64 + 1.5) + run.rng.range(0..=40) as f64 / 1_000.0;
        format!("epoch {}/40 loss {loss:.4} lr 3e-4", step + 1)
    })
}

/// The same answer fifteen times, then a change; at least twenty seconds apart.
fn poll_same_then_change(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    let states = ["queued", "provisioning", "running", "verifying", "succeeded"];
    while run.len() < 70 {
        let tool = status_call(run, kit);
        let seconds = run.rng.pick(&[20, 30, 45, 60]) * 1_000;
        run.pace = seconds..=seconds + 1_500;
        for state in states {
            for _ in 0..run.rng.count(13..=15) {
                run.act(&mut chat, "", tool.clone(), &json!({ "state": state }).to_string());
            }
        }
        run.pace = 2_000..=8_000;
        let path = words::path(&mut run.rng);
        edit(run, &mut chat, kit, &path);
    }
    finish(run, &mut chat);
}

/// The wait is a call of its own; the status stays the same for long.
fn sleep_then_status(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    let status = status_call(run, kit);
    let seconds = run.rng.pick(&[30, 60, 90]);
    for state in ["pending", "building", "deploying", "live"] {
        for _ in 0..run.rng.count(8..=12) {
            run.pace = seconds * 1_000..=seconds * 1_000 + 900;
            let slept = kit.output(&mut run.rng, "", 0);
            run.act(&mut chat, "", kit.shell(&format!("sleep {seconds}")), &slept);
            run.pace = 2_000..=4_000;
            run.act(&mut chat, "", status.clone(), &format!("Status: {state}"));
        }
    }
    finish(run, &mut chat);
}

fn ci_checks(run: &mut Run) {
    let names = ["build", "clippy", "test-linux", "test-macos", "docs", "audit"];
    let (kit, mut chat) = begin(run);
    while run.len() < 62 {
        let path = words::path(&mut run.rng);
        (0..3).for_each(|_| edit(run, &mut chat, kit, &path));
        let wait = run.rng.pick(&[15, 20, 30]);
        run.pace = wait * 1_000..=wait * 1_000 + 900;
        for poll in 0..run.rng.count(12..=18) {
            let printed = outputs::checks(&names, poll / 3, poll as i64 * wait);
            shell(run, &mut chat, kit, ("gh pr checks 214", &printed, 0));
        }
        run.pace = 2_000..=8_000;
    }
    finish(run, &mut chat);
}

/// Empty reads of a terminal that brings new output most of the time, and nothing in between.
fn poll_terminal(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    let tool = match kit.client {
        Client::Codex => Tool::new("write_stdin", json!({"session_id": 4711, "chars": "", "yield_time_ms": 30_000})),
        Client::ClaudeCode => Tool::new("BashOutput", json!({"bash_id": "bash_1"})),
        _ => Tool::new("read_output", json!({"terminal": 3})),
    };
    run.pace = 12_000..=31_000;
    while run.len() < 66 {
        let printed = if run.rng.chance(65) { compile_lines(run) } else { String::new() };
        let result = kit.output(&mut run.rng, &printed, 0);
        run.act(&mut chat, "", tool.clone(), &result);
    }
    finish(run, &mut chat);
}

fn compile_lines(run: &mut Run) -> String {
    let count = run.rng.count(1..=5);
    (0..count).map(|_| format!("  CC {}.o\n", words::identifier(&mut run.rng))).collect()
}

/// A member of a team polls the shared list; sometimes another member has changed it, otherwise
/// there is nothing to do yet.
fn teammate_task_list(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    let steps = words::plan_steps(&mut run.rng, 30);
    let mut done = 0;
    while run.len() < 70 {
        run.pace = 20_000..=40_000;
        look_at_list(run, &mut chat, &steps, done);
        run.pace = 2_000..=8_000;
        if run.rng.chance(30) {
            done += 1;
            let path = words::path(&mut run.rng);
            let text = code::listing(&mut run.rng, 1, 5);
            run.act(&mut chat, "", kit.read(&path), &text);
            edit(run, &mut chat, kit, &path);
        }
    }
    finish(run, &mut chat);
}

fn look_at_list(run: &mut Run, chat: &mut Conversation, steps: &[String], done: usize) {
    let rows: Vec<String> = steps
        .iter()
        .enumerate()
        .map(|(place, step)| format!("#{place} [{}] {step}", if place < done { "completed" } else { "pending" }))
        .collect();
    run.act(chat, "", Tool::new("TaskList", json!({})), &rows.join("\n"));
}

/// The percentage stays the same for two or three polls, then moves.
fn poll_slow_percent(run: &mut Run) {
    poll_jobs(run, 30, |_, step| format!("Indexing: {}% of the archive", step / 3 * 4 + 7))
}

/// A pipeline whose stages finish one after the other.
fn poll_stages(run: &mut Run) {
    let stages = ["fetch", "resolve", "compile", "link", "test", "package", "sign", "upload", "verify", "publish"];
    poll_jobs(run, 30, move |_, step| json!({"stage": stages[step / 3], "finished": step / 3}).to_string())
}
