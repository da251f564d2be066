//! Failing and recovering: each error leads to something that works.

use serde_json::json;

use super::super::steps::{begin, edit, explore, finish, shell};
use super::super::{Shape, shapes};
use crate::conversation::{Client, Tool};
use crate::material::outputs::{self, Runner};
use crate::material::{code, words};
use crate::run::Run;

pub(super) fn shapes() -> Vec<Shape> {
    let codex = shapes![false; refused_then_done_right, debug_with_new_errors, failing_then_passing_files];
    let mut shapes: Vec<Shape> = codex.into_iter().map(Shape::with_codex).collect();
    shapes.extend(shapes![false; ten_failing_at_once, anchor_file_reread, post_compaction]);
    shapes
}

/// Every edit is refused first, with the same words, and done right after the file was read.
fn refused_then_done_right(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    let refusal = match kit.client {
        Client::ClaudeCode => {
            "<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>"
                .to_owned()
        }
        _ => "Error: you must read the file before you edit it.".to_owned(),
    };
    for path in words::paths(&mut run.rng, 24) {
        let (old, new) = (code::line(&mut run.rng), code::line(&mut run.rng));
        let say = words::remark(&mut run.rng);
        run.act_failing(&mut chat, &say, kit.edit(&path, &old, &new), &refusal);
        let text = code::listing(&mut run.rng, 1, 6);
        run.act(&mut chat, "", kit.read(&path), &text);
        run.act(&mut chat, "", kit.edit(&path, &old, &new), &kit.edited(&path));
    }
    finish(run, &mut chat);
}

/// One file, one command, another error each time.
fn debug_with_new_errors(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    let path = words::path(&mut run.rng);
    let command = run.rng.pick(&["python main.py", "cargo build", "npx tsc --noEmit", "go vet ./..."]);
    while run.len() < 70 {
        edit(run, &mut chat, kit, &path);
        let error = outputs::failure(&mut run.rng);
        shell(run, &mut chat, kit, (command, &error, 1));
    }
    finish(run, &mut chat);
}

/// The same kind of test fails and is repaired in one module after another.
fn failing_then_passing_files(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    while run.len() < 64 {
        let path = words::path(&mut run.rng);
        let command = format!("pytest -q {path} | tail -1");
        for failed in [1, 1, 0] {
            let summary = Runner::Pytest.summary(&mut run.rng, failed, 9 - failed);
            shell(run, &mut chat, kit, (&command, &summary, failed as u8));
            if failed > 0 {
                edit(run, &mut chat, kit, &path);
            }
        }
    }
    finish(run, &mut chat);
}

/// Ten calls at once fail on ten targets with one error; later they work.
fn ten_failing_at_once(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    while run.len() < 62 {
        let paths = words::paths(&mut run.rng, 10);
        let missing = paths.iter().map(|path| (kit.read(path), "Error: file does not exist.".to_owned())).collect();
        run.act_all(&mut chat, "", missing);
        shell(run, &mut chat, kit, ("ls -R", &paths.join("\n"), 0));
        let texts: Vec<String> = paths.iter().map(|_| code::listing(&mut run.rng, 1, 3)).collect();
        let read = paths.iter().zip(texts).map(|(path, text)| (kit.read(&format!("app/{path}")), text)).collect();
        run.act_all(&mut chat, "", read);
        (0..4).for_each(|_| edit(run, &mut chat, kit, &paths[0]));
    }
    finish(run, &mut chat);
}

/// One file is read again and again between other work, because everything depends on it.
fn anchor_file_reread(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    let anchor = run.rng.pick(&["README.md", "package.json", "Cargo.toml", "docs/style.md"]);
    let text = code::listing(&mut run.rng, 1, 9);
    while run.len() < 70 {
        run.act(&mut chat, "", kit.read(anchor), &text);
        let count = run.rng.count(2..=4);
        explore(run, &mut chat, kit, count);
        let path = words::path(&mut run.rng);
        edit(run, &mut chat, kit, &path);
    }
    finish(run, &mut chat);
}

/// The history is compacted now and then; the same few looks are taken once after it, and the work
/// goes on.
fn post_compaction(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    let task = words::task(&mut run.rng);
    let listing = words::paths(&mut run.rng, 8).join("\n");
    while run.len() < 75 {
        for _ in 0..12 {
            let path = words::path(&mut run.rng);
            edit(run, &mut chat, kit, &path);
        }
        let done = words::plan_steps(&mut run.rng, 4).join("; ");
        chat.clear();
        chat.push_user(&format!("This session continues an earlier one. The task: {task} Done so far: {done}."));
        shell(run, &mut chat, kit, ("git ls-files", &listing, 0));
        run.act(&mut chat, "", Tool::new("memory_read", json!({"key": "notes"})), "Keep the public names stable.");
    }
    finish(run, &mut chat);
}
