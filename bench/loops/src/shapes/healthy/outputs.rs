//! Work whose outputs are long and full of parts that differ every time.

use serde_json::json;

use super::super::steps::{begin, edit, finish, shell};
use super::super::{Shape, shapes};
use crate::clock::written;
use crate::conversation::Tool;
use crate::material::outputs::{self, Linter, Runner};
use crate::material::volatile::Volatile;
use crate::material::words;
use crate::rng::Rng;
use crate::run::Run;

pub(super) fn shapes() -> Vec<Shape> {
    let codex = shapes![false; edit_test_full_output, three_looks_after_edit];
    let mut shapes: Vec<Shape> = codex.into_iter().map(Shape::with_codex).collect();
    shapes.extend(shapes![false; poll_percent_with_clock, new_results_with_ids, deploys_one_after_the_other]);
    shapes
}

/// The whole output of a test run: times, temporary directories, failures, summary.
fn test_output(rng: &mut Rng, now: i64, failed: usize) -> String {
    let failures: String = (0..failed.min(3)).map(|_| format!("{}\n", outputs::failure(rng))).collect();
    let lines = [Volatile::any(rng).line(rng, now), Volatile::any(rng).line(rng, now)];
    let summary = Runner::Pytest.summary(rng, failed, 90 - failed);
    format!(
        "{}\nrootdir: /tmp/pytest-of-dev/pytest-{}\n{failures}{}\n{summary}",
        lines[0],
        rng.range(10..=99),
        lines[1]
    )
}

fn edit_test_full_output(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    let mut failed: usize = 24;
    while run.len() < 64 {
        let path = words::path(&mut run.rng);
        edit(run, &mut chat, kit, &path);
        failed = failed.saturating_sub(run.rng.count(0..=1));
        let printed = test_output(&mut run.rng, run.now, failed);
        shell(run, &mut chat, kit, ("pytest", &printed, u8::from(failed > 0)));
    }
    finish(run, &mut chat);
}

/// Tests, linter and status after every edit.
fn three_looks_after_edit(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    let (runner, linter) = (run.rng.pick(&Runner::ALL), run.rng.pick(&Linter::ALL));
    let command = runner.command(&mut run.rng);
    let path = words::path(&mut run.rng);
    let status = outputs::git_status(std::slice::from_ref(&path));
    for round in 0..17_usize {
        edit(run, &mut chat, kit, &path);
        let summary = runner.summary(&mut run.rng, 12_usize.saturating_sub(round / 2), 60);
        shell(run, &mut chat, kit, (&command, &summary, 1));
        shell(run, &mut chat, kit, (linter.command, &linter.summary(9 - round / 3), 1));
        shell(run, &mut chat, kit, ("git status", &status, 0));
    }
    finish(run, &mut chat);
}

/// A clock and a request id beside the number that moves.
fn poll_percent_with_clock(run: &mut Run) {
    let (_, mut chat) = begin(run);
    let seconds = run.rng.pick(&[1, 2, 5, 10]) * 1_000;
    run.pace = seconds..=seconds + 300;
    let tool = Tool::new("render_status", json!({ "job": run.rng.pick(words::MODULES) }));
    let kind = Volatile::any(&mut run.rng);
    for step in 0..62 {
        let (clock, line) = (written(run.now, "%H:%M:%S"), kind.line(&mut run.rng, run.now));
        run.act(&mut chat, "", tool.clone(), &format!("[{clock}] frame {} of 2600\n{line}", 17 + step * 40));
    }
    finish(run, &mut chat);
}

/// New facts behind the same kind of header and id each time.
fn new_results_with_ids(run: &mut Run) {
    let (_, mut chat) = begin(run);
    let kind = Volatile::any(&mut run.rng);
    for _ in 0..62 {
        let (city, product) = (run.rng.pick(words::CITIES), run.rng.pick(words::PRODUCTS));
        let line = kind.line(&mut run.rng, run.now);
        let result = format!(
            "{line}\n{product} in {city}: {} pieces, {}",
            run.rng.range(1..=400),
            words::identifier(&mut run.rng)
        );
        run.act(&mut chat, "", Tool::new("next_stock_report", json!({})), &result);
    }
    finish(run, &mut chat);
}

/// The same four commands for one service after another.
fn deploys_one_after_the_other(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    for service in run.rng.sample(words::MODULES, 16) {
        for (command, printed) in
            [("build", "built"), ("push", "pushed"), ("deploy", "rolled out"), ("status", "healthy")]
        {
            shell(run, &mut chat, kit, (&format!("./ops {command} {service}"), &format!("{service}: {printed}"), 0));
        }
    }
    finish(run, &mut chat);
}
