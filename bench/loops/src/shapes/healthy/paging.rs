//! The same arguments, new results.

use serde_json::{Value, json};

use super::super::steps::{begin, finish};
use super::super::{Shape, shapes};
use crate::conversation::Tool;
use crate::material::{code, words};
use crate::rng::{BASE62, HEX, Rng};
use crate::run::Run;

pub(super) fn shapes() -> Vec<Shape> {
    shapes![false;
        next_page, next_message, next_row_numbers, read_output_chunks, page_argument_advances, line_ranges_advance,
        rows_inserted_one_by_one, sensor_readings, ids_processed_from_queue]
}

/// The same call again and again; `result` gives what comes next.
fn drain(run: &mut Run, tool: &Tool, result: impl Fn(&mut Rng, usize) -> String) {
    let (_, mut chat) = begin(run);
    let length = run.rng.count(62..=110);
    for step in 0..length {
        let text = result(&mut run.rng, step);
        run.act(&mut chat, "", tool.clone(), &text);
    }
    finish(run, &mut chat);
}

fn next_page(run: &mut Run) {
    let name = run.rng.pick(&["next_page", "fetch_more", "cursor_next", "mcp__db__next"]);
    drain(run, &Tool::new(name, json!({})), |rng, _| {
        let rows: Vec<Value> = (0..5)
            .map(|_| json!({"customer": rng.pick(words::PEOPLE), "city": rng.pick(words::CITIES), "total": rng.range(10..=900)}))
            .collect();
        json!({ "rows": rows }).to_string()
    });
}

fn next_message(run: &mut Run) {
    let name = run.rng.pick(&["receive_message", "pop_email", "get_next_ticket"]);
    drain(run, &Tool::new(name, json!({"queue": "support"})), |rng, _| {
        format!("From: {}\nSubject: {}\n\n{}", rng.pick(words::PEOPLE), words::identifier(rng), words::task(rng))
    });
}

/// Only numbers differ from row to row.
fn next_row_numbers(run: &mut Run) {
    let id = run.rng.range(1_000..=9_000);
    drain(run, &Tool::new("fetch_row", json!({"cursor": "c1"})), move |rng, step| {
        format!(
            "row {}: quantity={} price={}.{:02}",
            id + step as i64,
            rng.range(1..=90),
            rng.range(1..=400),
            rng.range(0..=99)
        )
    });
}

fn sensor_readings(run: &mut Run) {
    let start = run.rng.range(200..=900);
    drain(run, &Tool::new("read_next_sample", json!({"channel": "A"})), move |_, step| {
        let step = step as i64;
        format!("{{\"seq\": {}, \"value\": {:.3}}}", start + step, (start + step * 7) as f64 / 10.0)
    });
}

/// A long output in pieces, each under a header with an id of its own.
fn read_output_chunks(run: &mut Run) {
    drain(run, &Tool::new("read_output", json!({"terminal_id": 7})), |rng, _| {
        format!("Chunk ID: {}\nOutput:\n{}", rng.text(HEX, 6), code::lines(rng, 6))
    });
}

/// Records with random ids, another each time, taken from a queue.
fn ids_processed_from_queue(run: &mut Run) {
    drain(run, &Tool::new("claim_next_order", json!({"worker": "w1"})), |rng, _| {
        format!(
            "order ord_{} for {}: {} x {}",
            rng.text(BASE62, 14),
            rng.pick(words::PEOPLE),
            rng.range(1..=9),
            rng.pick(words::PRODUCTS)
        )
    });
}

fn page_argument_advances(run: &mut Run) {
    let (_, mut chat) = begin(run);
    let name = run.rng.pick(&["list_orders", "search_flights", "mcp__github__list_issues"]);
    for page in 1..=run.rng.count(62..=90) {
        let rows: Vec<String> =
            (0..4).map(|_| format!("{}, {}", run.rng.pick(words::PEOPLE), run.rng.pick(words::PRODUCTS))).collect();
        run.act(&mut chat, "", Tool::new(name, json!({"page": page, "per_page": 4})), &rows.join("\n"));
    }
    finish(run, &mut chat);
}

/// One large file is read in ranges.
fn line_ranges_advance(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    let path = words::path(&mut run.rng);
    for part in 0..run.rng.count(62..=80) {
        let text = code::listing(&mut run.rng, part * 12, 12);
        run.act(&mut chat, "", kit.read_range(&path, part * 12, 12), &text);
    }
    finish(run, &mut chat);
}

/// Other arguments, always the same short result.
fn rows_inserted_one_by_one(run: &mut Run) {
    let (_, mut chat) = begin(run);
    let (name, result) = run.rng.pick(&[
        ("execute_sql", "INSERT 0 1"),
        ("create_contact", r#"{"ok":true}"#),
        ("add_calendar_event", "Event created."),
        ("mcp__crm__upsert", "done"),
    ]);
    for row in 0..run.rng.count(62..=100) {
        let input = json!({"name": run.rng.pick(words::PEOPLE), "city": run.rng.pick(words::CITIES), "row": row});
        run.act(&mut chat, "", Tool::new(name, input), result);
    }
    finish(run, &mut chat);
}
