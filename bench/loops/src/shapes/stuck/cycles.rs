//! Cycles of several steps.

use super::super::steps::begin;
use super::super::{Shape, shapes};
use super::fixed::any_step;
use crate::conversation::{Conversation, Kit, Tool};
use crate::material::volatile::Volatile;
use crate::material::{code, reworded, words};
use crate::run::Run;

pub(super) fn shapes() -> Vec<Shape> {
    let mut shapes: Vec<Shape> = (2..=8)
        .map(|period| {
            Shape::new(&format!("cycle_{period}"), true, move |run| cycle(run, period, Style::Plain)).with_codex()
        })
        .collect();
    for period in [2, 3, 5] {
        let shape = move |style| move |run: &mut Run| cycle(run, period, style);
        shapes.push(Shape::new(&format!("cycle_{period}_reworded"), true, shape(Style::Reworded)));
        shapes.push(Shape::new(&format!("cycle_{period}_volatile"), true, shape(Style::Volatile)));
    }
    shapes.extend(shapes![true;
        cycle_with_fillers, test_and_known_files, edit_back_and_forth, edit_without_effect, reread_edit_no_match,
        validate_the_validation, cycle_drifting_arguments, tests_without_edits]);
    shapes
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    Plain,
    Reworded,
    Volatile,
}

/// The same steps in the same order, lap after lap.
fn cycle(run: &mut Run, period: usize, style: Style) {
    let (kit, mut chat) = begin(run);
    let steps: Vec<(Tool, String)> = (0..period).map(|_| any_step(run, kit)).collect();
    let kind = Volatile::any(&mut run.rng);
    for lap in 0..(60 / period).max(8) {
        if lap == 1 {
            run.mark_stuck();
        }
        for (tool, result) in &steps {
            let say = if style == Style::Reworded { reworded::again(&mut run.rng, &tool.name) } else { String::new() };
            let line = kind.line(&mut run.rng, run.now);
            let result = if style == Style::Volatile { format!("{result}\n{line}") } else { result.clone() };
            run.act(&mut chat, &say, tool.clone(), &result);
        }
    }
}

/// One of a few looks that were all taken before.
fn filler(run: &mut Run, chat: &mut Conversation, pool: &[(Tool, String)]) {
    let (tool, result) = pool[run.rng.below(pool.len())].clone();
    run.act(chat, "", tool, &result);
}

/// Two steps in a cycle, with one or two looks between that bring nothing new.
fn cycle_with_fillers(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    let steps: Vec<(Tool, String)> = (0..2).map(|_| any_step(run, kit)).collect();
    let pool: Vec<(Tool, String)> = (0..3).map(|_| any_step(run, kit)).collect();
    for (tool, result) in pool.iter().chain(&steps) {
        run.act(&mut chat, "", tool.clone(), result);
    }
    run.mark_stuck();
    for _ in 0..14 {
        for (tool, result) in &steps {
            run.act(&mut chat, "", tool.clone(), result);
            if run.rng.chance(60) {
                filler(run, &mut chat, &pool);
            }
        }
    }
}

/// The failing test between reads of files that are all known.
fn test_and_known_files(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    let error = crate::material::outputs::failure(&mut run.rng);
    let pool: Vec<(Tool, String)> =
        words::paths(&mut run.rng, 4).iter().map(|path| (kit.read(path), code::listing(&mut run.rng, 1, 7))).collect();
    for (tool, result) in &pool {
        run.act(&mut chat, "", tool.clone(), result);
    }
    for lap in 0..18 {
        if lap == 1 {
            run.mark_stuck();
        }
        failing_test(run, &mut chat, kit, &error);
        filler(run, &mut chat, &pool);
    }
}

fn failing_test(run: &mut Run, chat: &mut Conversation, kit: Kit, error: &str) {
    let result = kit.output(&mut run.rng, error, 101);
    run.act_failing(chat, "", kit.shell("cargo test -q"), &result);
}

/// An edit, its opposite, the test; the file is the same after each lap.
fn edit_back_and_forth(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    let path = words::path(&mut run.rng);
    let (one, other) = (code::line(&mut run.rng), code::line(&mut run.rng));
    let errors = [crate::material::outputs::failure(&mut run.rng), crate::material::outputs::failure(&mut run.rng)];
    for lap in 0..12 {
        if lap == 1 {
            run.mark_stuck();
        }
        run.act(&mut chat, "", kit.edit(&path, &one, &other), &kit.edited(&path));
        failing_test(run, &mut chat, kit, &errors[0]);
        run.act(&mut chat, "", kit.edit(&path, &other, &one), &kit.edited(&path));
        failing_test(run, &mut chat, kit, &errors[1]);
    }
}

/// The same wrong edit "succeeds" every time, and the test fails as before.
fn edit_without_effect(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    let path = words::path(&mut run.rng);
    let text = code::lines(&mut run.rng, 5);
    let error = crate::material::outputs::failure(&mut run.rng);
    for lap in 0..20 {
        if lap == 1 {
            run.mark_stuck();
        }
        let say = reworded::again(&mut run.rng, "the fix");
        run.act(&mut chat, &say, kit.write(&path, &text), &kit.edited(&path));
        failing_test(run, &mut chat, kit, &error);
    }
}

/// The edit finds no match, the file is read, the same edit is tried.
fn reread_edit_no_match(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    let path = words::path(&mut run.rng);
    let (listing, old, new) =
        (code::listing(&mut run.rng, 1, 9), code::line(&mut run.rng), code::lines(&mut run.rng, 3));
    for lap in 0..20 {
        if lap == 1 {
            run.mark_stuck();
        }
        // Models change white space or a comment and hope.
        let old = format!("{old}{}", " ".repeat(run.rng.below(3)));
        run.act_failing(&mut chat, "", kit.edit(&path, &old, &new), &kit.no_match(&path));
        run.act(&mut chat, "", kit.read(&path), &listing);
    }
}

/// Everything passes; it is checked again and again.
fn validate_the_validation(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    let checks = [("make check", "all checks passed"), ("./verify.sh", "verified"), ("git diff --check", "")];
    for lap in 0..14 {
        if lap == 1 {
            run.mark_stuck();
        }
        for (command, printed) in checks {
            let say = reworded::again(&mut run.rng, "a final verification");
            let result = kit.output(&mut run.rng, printed, 0);
            run.act(&mut chat, &say, kit.shell(command), &result);
        }
    }
}

/// A search and a read take turns; the words of the search drift, the hits do not.
fn cycle_drifting_arguments(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    let topic = words::identifier(&mut run.rng);
    let (tool, text) = any_step(run, kit);
    for lap in 0..20 {
        if lap == 1 {
            run.mark_stuck();
        }
        let query = reworded::query(&mut run.rng, &topic);
        run.act(&mut chat, "", kit.search(&query, "."), "No matches found");
        run.act(&mut chat, "", tool.clone(), &text);
    }
}

/// The suite is run again and again, nothing is changed between.
fn tests_without_edits(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    let runner = run.rng.pick(&crate::material::outputs::Runner::ALL);
    let (command, failed) = (runner.command(&mut run.rng), run.rng.count(1..=9));
    for lap in 0..40 {
        if lap == 1 {
            run.mark_stuck();
        }
        let say = reworded::again(&mut run.rng, "the tests");
        let summary = runner.summary(&mut run.rng, failed, 50);
        let result = kit.output(&mut run.rng, &summary, 1);
        run.act_failing(&mut chat, &say, kit.shell(&command), &result);
    }
}
