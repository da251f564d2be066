//! Steps that many shapes share.

use crate::conversation::{Conversation, Kit};
use crate::material::{code, words};
use crate::run::Run;

/// A coding conversation that has read a little.
pub(super) fn begin(run: &mut Run) -> (Kit, Conversation) {
    let kit = run.kit();
    let task = words::task(&mut run.rng);
    let mut chat = run.open(kit, &task);
    let count = run.rng.count(1..=6);
    explore(run, &mut chat, kit, count);
    (kit, chat)
}

/// Reads files that were not read before.
pub(super) fn explore(run: &mut Run, chat: &mut Conversation, kit: Kit, count: usize) {
    for path in words::paths(&mut run.rng, count) {
        let say = words::remark(&mut run.rng);
        let lines = run.rng.count(3..=8);
        let text = code::listing(&mut run.rng, 1, lines);
        run.act(chat, &say, kit.read(&path), &text);
    }
}

/// An edit of `path` that works and differs from all others.
pub(super) fn edit(run: &mut Run, chat: &mut Conversation, kit: Kit, path: &str) {
    let say = words::remark(&mut run.rng);
    let (old, new) = (code::line(&mut run.rng), code::lines(&mut run.rng, 2));
    run.act(chat, &say, kit.edit(path, &old, &new), &kit.edited(path));
}

/// A command with what it prints.
pub(super) fn shell(run: &mut Run, chat: &mut Conversation, kit: Kit, step: (&str, &str, u8)) {
    let (command, printed, code) = step;
    let say = if run.rng.chance(30) { words::remark(&mut run.rng) } else { String::new() };
    let result = kit.output(&mut run.rng, printed, code);
    if code == 0 {
        run.act(chat, &say, kit.shell(command), &result);
    } else {
        run.act_failing(chat, &say, kit.shell(command), &result);
    }
}

/// The end of a run that reached its goal.
pub(super) fn finish(run: &mut Run, chat: &mut Conversation) {
    let text = format!("Done: {}.", words::plan_steps(&mut run.rng, 2).join(", and "));
    run.answer(chat, &text);
}
