//! Searching with other words for what is not there.

use serde_json::json;

use super::super::steps::begin;
use super::super::{Shape, shapes};
use super::LAPS;
use crate::conversation::Tool;
use crate::material::{reworded, words};
use crate::run::Run;

pub(super) fn shapes() -> Vec<Shape> {
    shapes![true;
        reworded_search_nothing, reworded_search_same_hits, page_drifts_empty, page_drifts_same_rows,
        directory_drifts_nothing, dates_drift_nothing]
}

fn topic(run: &mut Run) -> String {
    format!("{} {} {}", run.rng.pick(words::VERBS), run.rng.pick(words::ADJECTIVES), run.rng.pick(words::NOUNS))
}

fn reworded_search_nothing(run: &mut Run) {
    let (_, mut chat) = begin(run);
    let topic = topic(run);
    let (name, nothing) = run.rng.pick(&[
        ("web_search", r#"{"results":[]}"#),
        ("mcp__docs__search", "No results found."),
        ("search_knowledge_base", "[]"),
    ]);
    for lap in 0..LAPS {
        if lap == 1 {
            run.mark_stuck();
        }
        let query = reworded::query(&mut run.rng, &topic);
        let say = reworded::again(&mut run.rng, name);
        run.act(&mut chat, &say, Tool::new(name, json!({ "query": query })), nothing);
    }
}

fn reworded_search_same_hits(run: &mut Run) {
    let (_, mut chat) = begin(run);
    let topic = topic(run);
    let hits = words::plan_steps(&mut run.rng, 3).join("\n");
    for lap in 0..LAPS {
        if lap == 1 {
            run.mark_stuck();
        }
        let query = reworded::query(&mut run.rng, &topic);
        run.act(&mut chat, "", Tool::new("web_search", json!({ "query": query })), &hits);
    }
}

fn page_drifts_empty(run: &mut Run) {
    let (_, mut chat) = begin(run);
    let city = run.rng.pick(words::CITIES);
    for page in 1..=LAPS {
        if page == 2 {
            run.mark_stuck();
        }
        let tool = Tool::new("list_hotels", json!({"city": city, "page": page + 30}));
        run.act(&mut chat, "", tool, r#"{"hotels": [], "total": 12}"#);
    }
}

/// The service ignores the page and always gives the first one.
fn page_drifts_same_rows(run: &mut Run) {
    let (_, mut chat) = begin(run);
    let rows = run.rng.sample(words::PEOPLE, 5).join("\n");
    for page in 1..=LAPS {
        if page == 2 {
            run.mark_stuck();
        }
        run.act(&mut chat, "", Tool::new("list_customers", json!({ "page": page })), &rows);
    }
}

fn directory_drifts_nothing(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    let name = words::identifier(&mut run.rng);
    for lap in 0..LAPS {
        if lap == 1 {
            run.mark_stuck();
        }
        let folder = format!("{}/{}", run.rng.pick(words::MODULES), run.rng.pick(words::NOUNS));
        run.act(&mut chat, "", kit.search(&name, &folder), "No matches found");
    }
}

fn dates_drift_nothing(run: &mut Run) {
    let (_, mut chat) = begin(run);
    let (from, to) = (run.rng.pick(words::CITIES), run.rng.pick(words::CITIES));
    for day in 1..=LAPS {
        if day == 2 {
            run.mark_stuck();
        }
        let date = format!("2026-{:02}-{:02}", 4 + day / 28, 1 + day % 28);
        let tool = Tool::new("search_flights", json!({"from": from, "to": to, "date": date}));
        run.act(&mut chat, "", tool, "No flights found.");
    }
}
