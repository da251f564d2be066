//! The same again behind something that differs every time, one shape for each kind of volatile
//! part.

use serde_json::json;

use super::super::Shape;
use super::super::steps::begin;
use super::LAPS;
use super::fixed::any_step;
use crate::material::volatile::{KINDS, Volatile};
use crate::material::{outputs, words};
use crate::run::Run;

pub(super) fn shapes() -> Vec<Shape> {
    let mut shapes = Vec::new();
    for kind in KINDS {
        let named = |where_: &str| format!("volatile_{where_}_{}", kind.name);
        shapes.push(Shape::new(&named("result"), true, |run| in_result(run, *kind)));
        shapes.push(Shape::new(&named("prompt"), true, |run| in_prompt(run, *kind)));
    }
    for name in ["uuid_hex", "ulid", "base62_prefix", "epoch_millis", "temp_name", "iso8601"] {
        let kinds = KINDS.iter().find(|kind| kind.name == name);
        let shape = |kind: &'static Volatile| {
            Shape::new(&format!("volatile_arguments_{name}"), true, |run| in_arguments(run, *kind))
        };
        shapes.extend(kinds.map(shape));
    }
    shapes.push(Shape::new("volatile_result_mixed", true, in_result_mixed).with_codex());
    shapes
}

/// The result is the same but for one line, which stands above or below the rest, or in its midst.
fn in_result(run: &mut Run, kind: Volatile) {
    let (kit, mut chat) = begin(run);
    let (tool, body) = any_step(run, kit);
    let body = if run.rng.chance(50) { outputs::failure(&mut run.rng) } else { body };
    let place = run.rng.below(3);
    for lap in 0..LAPS {
        if lap == 1 {
            run.mark_stuck();
        }
        let line = kind.line(&mut run.rng, run.now);
        let result = match place {
            0 => format!("{line}\n{body}"),
            1 => format!("{body}\n{line}"),
            _ => format!("{body}\n{line}\n{}", "No further results."),
        };
        run.act(&mut chat, "", tool.clone(), &result);
    }
}

/// Three kinds at once, as real logs have them.
fn in_result_mixed(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    let (tool, _) = any_step(run, kit);
    let body = outputs::failure(&mut run.rng);
    let kinds = [Volatile::any(&mut run.rng), Volatile::any(&mut run.rng), Volatile::any(&mut run.rng)];
    for lap in 0..LAPS {
        if lap == 1 {
            run.mark_stuck();
        }
        let lines: Vec<String> = kinds.iter().map(|kind| kind.line(&mut run.rng, run.now)).collect();
        let result = kit.output(&mut run.rng, &format!("{}\n{body}\n{}", lines[0], lines[1..].join("\n")), 1);
        run.act_failing(&mut chat, "", tool.clone(), &result);
    }
}

/// An agent that starts its conversation over: the same request, the same answer, another id.
fn in_prompt(run: &mut Run, kind: Volatile) {
    let task = words::task(&mut run.rng);
    let answer = format!("I cannot do that yet. {}", words::task(&mut run.rng));
    for lap in 0..LAPS {
        if lap == 1 {
            run.mark_stuck();
        }
        let mut chat = run.open_with("You work through tickets.", &[], None);
        let line = kind.line(&mut run.rng, run.now);
        chat.push_user(&format!("{task}\n\nContext: {line}"));
        run.answer(&mut chat, &answer);
    }
}

/// The client puts a fresh id or time into the arguments of the same call.
fn in_arguments(run: &mut Run, kind: Volatile) {
    let (kit, mut chat) = begin(run);
    let (tool, result) = any_step(run, kit);
    for lap in 0..LAPS {
        if lap == 1 {
            run.mark_stuck();
        }
        let mut tool = tool.clone();
        tool.input["idempotency_key"] = json!(kind.part(&mut run.rng, run.now));
        run.act(&mut chat, "", tool, &result);
    }
}
