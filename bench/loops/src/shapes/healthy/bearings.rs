//! Looks that show what is known, or nothing, while the agent gets on; and figures that live.

use std::collections::HashSet;

use serde_json::json;

use super::super::steps::{begin, finish};
use super::super::{Shape, shapes};
use crate::conversation::{Client, Tool};
use crate::material::{code, words};
use crate::run::Run;

pub(super) fn shapes() -> Vec<Shape> {
    let mut shapes: Vec<Shape> = shapes![false; reread_before_each_read, two_anchors_reread, silent_terminal]
        .into_iter()
        .map(Shape::with_codex)
        .collect();
    shapes.extend(shapes![false; searches_seldom_find, price_watched, queue_watched]);
    shapes
}

/// A file of types is read again before each new file.
fn reread_before_each_read(run: &mut Run) {
    reread(run, 1);
}

/// The plan and the types take turns.
fn two_anchors_reread(run: &mut Run) {
    reread(run, 2);
}

fn reread(run: &mut Run, anchors: usize) {
    let (kit, mut chat) = begin(run);
    let known: Vec<_> = words::paths(&mut run.rng, anchors)
        .iter()
        .map(|path| (kit.read(path), code::listing(&mut run.rng, 1, 9)))
        .collect();
    let mut lap = 0;
    while run.len() < 64 {
        let (tool, text) = known[lap % anchors].clone();
        run.act(&mut chat, "", tool, &text);
        for _ in 0..run.rng.count(1..=2) {
            let (path, say) = (words::path(&mut run.rng), words::remark(&mut run.rng));
            let text = code::listing(&mut run.rng, 1, 7);
            run.act(&mut chat, &say, kit.read(&path), &text);
        }
        lap += 1;
    }
    finish(run, &mut chat);
}

/// A long build says nothing for a minute or two.
fn silent_terminal(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    let tool = match kit.client {
        Client::Codex => Tool::new("write_stdin", json!({"session_id": 4711, "chars": "", "yield_time_ms": 8_000})),
        _ => Tool::new("BashOutput", json!({"bash_id": "bash_1"})),
    };
    run.pace = 8_000..=11_000;
    while run.len() < 66 {
        let printed =
            if run.rng.chance(10) { format!("  LD {}.o\n", words::identifier(&mut run.rng)) } else { String::new() };
        let result = match kit.client {
            Client::Codex => format!(
                "Chunk ID: {}\nWall time: 8.00{} seconds\nProcess running with session ID 4711\nOutput:\n{printed}",
                run.rng.text(crate::rng::HEX, 6),
                run.rng.range(1..=9)
            ),
            _ if printed.is_empty() => "<status>running</status>".to_owned(),
            _ => format!("<status>running</status>\n\n<stdout>\n{printed}</stdout>"),
        };
        run.act(&mut chat, "", tool.clone(), &result);
    }
    finish(run, &mut chat);
}

/// One old name after the other is looked for; most of them are gone.
fn searches_seldom_find(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    let mut known = HashSet::new();
    while run.len() < 66 {
        for _ in 0..run.rng.count(5..=9) {
            let name = new_name(run, &mut known);
            run.act(&mut chat, "", kit.search(&name, "src"), "No matches found");
        }
        let found = format!("{}:{}: {}", words::path(&mut run.rng), run.rng.range(3..=400), code::line(&mut run.rng));
        let name = new_name(run, &mut known);
        run.act(&mut chat, "", kit.search(&name, "src"), &found);
    }
    finish(run, &mut chat);
}

/// A name that was not looked for before.
fn new_name(run: &mut Run, known: &mut HashSet<String>) -> String {
    loop {
        let name = words::identifier(&mut run.rng);
        if known.insert(name.clone()) {
            return name;
        }
    }
}

/// A price that drifts, looked at every few seconds.
fn price_watched(run: &mut Run) {
    let (_, mut chat) = begin(run);
    run.pace = 3_000..=6_000;
    let tool = Tool::new("get_quote", json!({"symbol": run.rng.pick(&["ACME", "HOOL", "PIPR"])}));
    let mut cents = run.rng.range(21_000..=64_000);
    for _ in 0..62 {
        cents += run.rng.range(-90..=110);
        let seen = json!({"last": cents as f64 / 100.0, "currency": "EUR"}).to_string();
        run.act(&mut chat, "", tool.clone(), &seen);
    }
    finish(run, &mut chat);
}

/// A queue that fills and empties.
fn queue_watched(run: &mut Run) {
    let (_, mut chat) = begin(run);
    run.pace = 3_000..=6_000;
    let tool = Tool::new("queue_depth", json!({"queue": run.rng.pick(words::MODULES)}));
    let mut depth = run.rng.range(20..=60);
    for _ in 0..62 {
        depth = (depth + run.rng.range(-9..=9)).clamp(2, 90);
        run.act(&mut chat, "", tool.clone(), &format!("{depth} messages are waiting"));
    }
    finish(run, &mut chat);
}
