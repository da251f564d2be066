//! Work between looks: something new is done, then the same look is taken again.

use serde_json::json;

use super::super::steps::{begin, edit, explore, finish, shell};
use super::super::{Shape, shapes};
use crate::conversation::{Conversation, Kit, Tool};
use crate::material::outputs::{self, Linter, Runner};
use crate::material::words;
use crate::run::Run;

pub(super) fn shapes() -> Vec<Shape> {
    let mut shapes: Vec<Shape> = Runner::ALL
        .into_iter()
        .map(|runner| {
            let name = format!("edit_test_{runner:?}").to_lowercase();
            Shape::new(&name, false, move |run| edit_test(run, runner)).with_codex()
        })
        .collect();
    let codex = shapes![false;
        tests_stay_red, edit_test_two_edits, edit_test_three_steps, benchmark_between_edits, linter_between_edits,
        git_status_between_edits, ls_between_writes, commit_between_edits, plan_between_steps, build_between_edits, file_shown_after_edit];
    shapes.extend(codex.into_iter().map(Shape::with_codex));
    shapes.extend(shapes![false; screenshot_between_edits, task_list_between_steps, tests_grow]);
    shapes
}

/// Calls a run of this kind should have.
fn length(run: &mut Run) -> usize {
    if run.rng.chance(10) { run.rng.count(120..=170) } else { run.rng.count(62..=85) }
}

/// Failures fall by one now and then until the suite is green; then the next part of the task
/// begins.
fn edit_test(run: &mut Run, runner: Runner) {
    let (kit, mut chat) = begin(run);
    let command = runner.command(&mut run.rng);
    let length = length(run);
    while run.len() < length {
        let path = words::path(&mut run.rng);
        let total = run.rng.count(20..=240);
        for failed in (0..run.rng.count(6..=14)).rev() {
            edit(run, &mut chat, kit, &path);
            let summary = runner.summary(&mut run.rng, failed, total - failed);
            shell(run, &mut chat, kit, (&command, &summary, u8::from(failed > 0)));
        }
        explore(run, &mut chat, kit, 1);
    }
    finish(run, &mut chat);
}

/// The same number of failures through fifteen different fixes.
fn tests_stay_red(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    let runner = run.rng.pick(&Runner::ALL);
    let command = runner.command(&mut run.rng);
    while run.len() < 62 {
        let path = words::path(&mut run.rng);
        let (failed, passed) = (run.rng.count(1..=4), run.rng.count(30..=90));
        for _ in 0..15 {
            edit(run, &mut chat, kit, &path);
            let summary = runner.summary(&mut run.rng, failed, passed);
            shell(run, &mut chat, kit, (&command, &summary, 1));
        }
        let summary = runner.summary(&mut run.rng, 0, passed + failed);
        shell(run, &mut chat, kit, (&command, &summary, 0));
        explore(run, &mut chat, kit, 2);
    }
    finish(run, &mut chat);
}

/// A look after some steps of work, until the run is long enough.
fn look_after(run: &mut Run, work: usize, look: impl Fn(&mut Run, &mut Conversation, Kit, usize)) {
    let (kit, mut chat) = begin(run);
    let length = length(run);
    let mut round = 0;
    while run.len() < length {
        let path = words::path(&mut run.rng);
        (0..work).for_each(|_| edit(run, &mut chat, kit, &path));
        look(run, &mut chat, kit, round);
        round += 1;
    }
    finish(run, &mut chat);
}

fn edit_test_two_edits(run: &mut Run) {
    let runner = run.rng.pick(&Runner::ALL);
    let command = runner.command(&mut run.rng);
    look_after(run, 2, |run, chat, kit, round| {
        let summary = runner.summary(&mut run.rng, 26_usize.saturating_sub(round / 2), 80);
        shell(run, chat, kit, (&command, &summary, 1));
    });
}

/// Read, edit, edit, test.
fn edit_test_three_steps(run: &mut Run) {
    let runner = run.rng.pick(&Runner::ALL);
    let command = runner.command(&mut run.rng);
    look_after(run, 2, |run, chat, kit, round| {
        explore(run, chat, kit, 1);
        let summary = runner.summary(&mut run.rng, 30 - round.min(30), 80 + round);
        shell(run, chat, kit, (&command, &summary, 1));
    });
}

/// New tests are added; all pass every time.
fn tests_grow(run: &mut Run) {
    let runner = run.rng.pick(&Runner::ALL);
    let command = runner.command(&mut run.rng);
    look_after(run, 1, |run, chat, kit, round| {
        let summary = runner.summary(&mut run.rng, 0, 40 + round);
        shell(run, chat, kit, (&command, &summary, 0));
    });
}

/// The times hardly move, and sometimes get worse: measuring is still work.
fn benchmark_between_edits(run: &mut Run) {
    let names = run.rng.sample(words::MODULES, 3);
    look_after(run, 1, |run, chat, kit, round| {
        let micros = 9_000 - round as i64 * run.rng.range(20..=160);
        let table = outputs::benchmark(&mut run.rng, &names, micros);
        shell(run, chat, kit, ("python bench.py --repeat 5", &table, 0));
    });
}

/// The number of problems falls by none to two each time.
fn linter_between_edits(run: &mut Run) {
    let linter = run.rng.pick(&Linter::ALL);
    let work = run.rng.count(1..=2);
    let mut problems = run.rng.count(60..=120);
    let counts: Vec<usize> = (0..200)
        .map(|_| {
            problems = problems.saturating_sub(run.rng.count(0..=2));
            problems
        })
        .collect();
    look_after(run, work, |run, chat, kit, round| {
        shell(run, chat, kit, (linter.command, &linter.summary(counts[round]), 1));
    });
}

/// Always the same file is changed, so the status is always the same.
fn git_status_between_edits(run: &mut Run) {
    let files = words::paths(&mut run.rng, 2);
    let command = run.rng.pick(&["git status", "git status --short", "git diff --stat"]);
    let work = run.rng.count(1..=3);
    look_after(run, work, |run, chat, kit, _| {
        shell(run, chat, kit, (command, &outputs::git_status(&files), 0));
    });
}

fn ls_between_writes(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    let length = length(run);
    let folder = run.rng.pick(words::MODULES);
    // Half of the runs overwrite the same few files, so that the listing stays the same.
    let names = run.rng.count(3..=60);
    while run.len() < length {
        let place = run.len() % names;
        let path = format!("out/{folder}/part_{place}.md");
        let text = words::plan_steps(&mut run.rng, 3).join("\n");
        run.act(&mut chat, "", kit.write(&path, &text), &kit.edited(&path));
        let files: Vec<String> = (0..names.min(run.len())).map(|place| format!("part_{place}.md")).collect();
        shell(run, &mut chat, kit, (&format!("ls out/{folder}"), &outputs::listing(&files), 0));
    }
    finish(run, &mut chat);
}

/// The plan is ticked off; the tool always says the same.
fn plan_between_steps(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    let length = length(run);
    while run.len() < length {
        let count = run.rng.count(5..=9);
        let steps = words::plan_steps(&mut run.rng, count);
        for done in 0..=count {
            run.act(&mut chat, "", kit.plan(&steps, done), kit.planned());
            let path = words::path(&mut run.rng);
            (0..run.rng.count(1..=2)).for_each(|_| edit(run, &mut chat, kit, &path));
        }
    }
    finish(run, &mut chat);
}

/// The build is clean every time and prints the same line.
fn build_between_edits(run: &mut Run) {
    let (command, printed) = run.rng.pick(&[
        ("make -s && echo ok", "ok"),
        ("cargo check -q; echo $?", "0"),
        ("npm run build --silent | tail -1", "Build complete."),
        ("mvn -q package", ""),
    ]);
    let work = run.rng.count(1..=2);
    look_after(run, work, |run, chat, kit, _| shell(run, chat, kit, (command, printed, 0)));
}

/// The edited file is read again after each edit.
fn file_shown_after_edit(run: &mut Run) {
    let path = words::path(&mut run.rng);
    look_after(run, 1, |run, chat, kit, _| {
        edit(run, chat, kit, &path);
        let text = crate::material::code::listing(&mut run.rng, 1, 8);
        run.act(chat, "", kit.read(&path), &text);
    });
}

/// The picture is not in the text of the result: only words that are always the same.
fn screenshot_between_edits(run: &mut Run) {
    let (name, result) = run.rng.pick(&[
        ("mcp__playwright__browser_take_screenshot", "Took a screenshot of the current page and saved it."),
        ("screenshot", r#"{"status":"ok"}"#),
        ("mcp__chrome__capture", "Screenshot captured (1280x720)."),
    ]);
    look_after(run, 1, |run, chat, _, _| run.act(chat, "", Tool::new(name, json!({"full_page": true})), result));
}

fn task_list_between_steps(run: &mut Run) {
    let name = run.rng.pick(&["TaskList", "task_list", "mcp__tasks__list", "list_todos"]);
    let names = words::plan_steps(&mut run.rng, 40);
    look_after(run, 2, |run, chat, _, round| {
        let open: Vec<&String> = names.iter().skip(round).collect();
        run.act(chat, "", Tool::new(name, json!({})), &json!({ "open": open }).to_string());
    });
}

/// Every edit is committed with the same message; the hash is new.
fn commit_between_edits(run: &mut Run) {
    look_after(run, 1, |run, chat, kit, _| {
        let hash = run.rng.text(crate::rng::HEX, 7);
        let printed = format!("[work {hash}] wip\n 1 file changed, 2 insertions(+), 1 deletion(-)");
        shell(run, chat, kit, ("git commit -qam wip && git log -1 --stat | tail -1", &printed, 0));
    });
}
