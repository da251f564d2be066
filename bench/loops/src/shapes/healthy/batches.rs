//! One thing done to many items.

use serde_json::json;

use super::super::steps::{begin, finish, shell};
use super::super::{Shape, shapes};
use crate::conversation::Tool;
use crate::material::{code, words};
use crate::run::Run;

pub(super) fn shapes() -> Vec<Shape> {
    let codex = shapes![false; licence_headers, move_files_fix_imports];
    let mut shapes: Vec<Shape> = codex.into_iter().map(Shape::with_codex).collect();
    shapes.extend(shapes![false;
        classify_texts, extract_fields, explore_many_files, parallel_reads, memory_notes, numbered_variants,
        translate_segments, searches_without_hits, same_call_fanned_out_once, tables_of_one_kind, messages_sent]);
    shapes
}

/// One template, other texts, the same few answers.
fn classify_texts(run: &mut Run) {
    run.pace = 300..=1_500;
    for _ in 0..run.rng.count(64..=120) {
        let mut chat = run.open_with("Classify the review as positive, negative or neutral.", &[], None);
        let (product, person) = (run.rng.pick(words::PRODUCTS), run.rng.pick(words::PEOPLE));
        let text = format!(
            "Review by {person}: the {product} is {} and {}",
            run.rng.pick(words::ADJECTIVES),
            words::task(&mut run.rng)
        );
        chat.push_user(&text);
        run.answer(&mut chat, run.rng.clone().pick(&["positive", "negative", "neutral"]));
    }
}

fn extract_fields(run: &mut Run) {
    run.pace = 500..=2_000;
    for _ in 0..run.rng.count(64..=100) {
        let mut chat = run.open_with("Extract name, city and product as JSON.", &[], None);
        let (person, city, product) =
            (run.rng.pick(words::PEOPLE), run.rng.pick(words::CITIES), run.rng.pick(words::PRODUCTS));
        chat.push_user(&format!(
            "{person} writes from {city} that the {product} arrived. {}",
            words::task(&mut run.rng)
        ));
        run.answer(&mut chat, &json!({"name": person, "city": city, "product": product}).to_string());
    }
}

/// The same header goes into one file after another, with the same words and results.
fn licence_headers(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    let header = "// SPDX-License-Identifier: Apache-2.0";
    let count = run.rng.count(62..=90);
    for path in words::paths(&mut run.rng, count) {
        run.act(&mut chat, "Adding the licence header.", kit.edit(&path, "", header), &kit.edited("file"));
    }
    finish(run, &mut chat);
}

fn move_files_fix_imports(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    for path in words::paths(&mut run.rng, 32) {
        shell(run, &mut chat, kit, (&format!("git mv {path} lib/{path}"), "", 0));
        let import = code::line(&mut run.rng);
        run.act(&mut chat, "", kit.edit(&format!("lib/{path}"), "../", &import), &kit.edited(&path));
    }
    finish(run, &mut chat);
}

/// Reads and searches only, for a long time.
fn explore_many_files(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    super::super::steps::explore(run, &mut chat, kit, 66);
    finish(run, &mut chat);
}

fn parallel_reads(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    while run.len() < 62 {
        let steps = words::paths(&mut run.rng, 4)
            .iter()
            .map(|path| (kit.read(path), code::listing(&mut run.rng, 1, 3)))
            .collect();
        run.act_all(&mut chat, "", steps);
    }
    finish(run, &mut chat);
}

/// Memory is read and written between steps by design.
fn memory_notes(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    while run.len() < 66 {
        run.act(
            &mut chat,
            "",
            Tool::new("read_memory", json!({"key": "project"})),
            "Names stay stable. Tests live in tests/.",
        );
        super::super::steps::explore(run, &mut chat, kit, 2);
        let note = words::remark(&mut run.rng) + &words::task(&mut run.rng);
        run.act(&mut chat, "", Tool::new("save_memory", json!({ "fact": note })), "Memory saved.");
    }
    finish(run, &mut chat);
}

/// The user asked for many variants; only the number in the arguments differs.
fn numbered_variants(run: &mut Run) {
    let (_, mut chat) = begin(run);
    let style = run.rng.pick(words::ADJECTIVES);
    for number in 1..=run.rng.count(62..=80) {
        let tool = Tool::new("generate_audio", json!({"style": style, "variation": number, "seconds": 8}));
        run.act(&mut chat, "", tool, &format!("wrote loop_{number:03}.wav"));
    }
    finish(run, &mut chat);
}

fn translate_segments(run: &mut Run) {
    run.pace = 1_000..=3_000;
    let session = run.session();
    let mut chat = run.open_with("Translate what the user writes into plain English.", &[], session);
    for _ in 0..64 {
        chat.push_user(&format!("Translate: {}", words::task(&mut run.rng)));
        let text = words::task(&mut run.rng);
        run.answer(&mut chat, &text);
    }
}

/// Different searches that find nothing, each followed by one that does.
fn searches_without_hits(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    while run.len() < 64 {
        let (missing, found) = (words::identifier(&mut run.rng), words::identifier(&mut run.rng));
        run.act(&mut chat, "", kit.search(&missing, "src"), "No matches found");
        let path = words::path(&mut run.rng);
        let hit = format!("{path}:{}: {found}", run.rng.range(2..=400));
        run.act(&mut chat, "", kit.search(&found, "src"), &hit);
        super::super::steps::explore(run, &mut chat, kit, 1);
    }
    finish(run, &mut chat);
}

/// One answer holds the same call several times, as samplers do; the next answer calls something
/// else.
fn same_call_fanned_out_once(run: &mut Run) {
    let (_, mut chat) = begin(run);
    while run.len() < 64 {
        let tool = Tool::new("ask_expert", json!({ "question": words::task(&mut run.rng) }));
        let opinions = (0..run.rng.count(3..=6)).map(|_| words::plan_steps(&mut run.rng, 1).remove(0));
        let steps = opinions.map(|opinion| (tool.clone(), opinion)).collect();
        run.act_all(&mut chat, "", steps);
    }
    finish(run, &mut chat);
}

/// Long answers with the same headings, dividers and prefixes; the rows differ.
fn tables_of_one_kind(run: &mut Run) {
    let session = run.session();
    let mut chat = run.open_with("Write inventory tables in Markdown.", &[], session);
    while run.len() < 62 {
        let city = run.rng.pick(words::CITIES);
        chat.push_user(&format!("The table of {city}, part {}, please.", run.len()));
        let rows: String = (0..6)
            .map(|_| {
                format!(
                    "| arn:aws:s3:::warehouse-{city}-{} | {} |\n",
                    run.rng.pick(words::PRODUCTS),
                    run.rng.range(1..=90)
                )
            })
            .collect();
        run.answer(&mut chat, &format!("| resource | count |\n|---|---|\n{rows}\n---\n"));
    }
}

/// The same text goes to one person after another; every message gets an id.
fn messages_sent(run: &mut Run) {
    let (_, mut chat) = begin(run);
    let text = words::task(&mut run.rng);
    for number in 0..run.rng.count(62..=80) {
        let address = format!("{}{number}@example.com", words::identifier(&mut run.rng));
        let id = crate::material::volatile::uuid(&mut run.rng);
        let tool = Tool::new("send_email", json!({"to": address, "subject": "Maintenance", "body": text}));
        run.act(&mut chat, "", tool, &format!("Message {id} queued."));
    }
    finish(run, &mut chat);
}
