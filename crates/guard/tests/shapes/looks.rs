//! Looks that show what is known, or nothing: an agent that finds its bearings between new things,
//! and one that gets nowhere.

use serde_json::json;

use crate::client::{Client, killed_at, words};

fn check(expected: Option<usize>, round: impl FnMut(&mut Client, usize)) {
    assert_eq!(killed_at(round), expected);
}

fn read(client: &mut Client, path: &str, content: &str) {
    client.tool("read_file", &json!({ "path": path }), content);
}

const TYPES: &str = "export type Customer = { id: string; name: string; address: Address }";
const PLAN: &str = "First read every importer, then list the columns that each of them expects, then compare.";

#[test]
fn a_file_that_is_read_again_before_each_new_one() {
    check(None, |client, round| match round % 2 {
        0 => read(client, "src/types.ts", TYPES),
        _ => read(client, &words(round, 1), &words(round, 60)),
    });
    check(None, |client, round| match round % 4 {
        0 => read(client, "src/types.ts", TYPES),
        2 => read(client, "PLAN.md", PLAN),
        _ => read(client, &words(round, 1), &words(round, 60)),
    });
    check(None, |client, round| match round % 3 {
        0 => read(client, "src/types.ts", TYPES),
        1 => read(client, "PLAN.md", PLAN),
        _ => read(client, &words(round, 1), &words(round, 60)),
    });
}

#[test]
fn a_file_that_is_read_again_with_nothing_new_between() {
    check(Some(7), |client, round| match round % 2 {
        0 => read(client, "src/types.ts", TYPES),
        _ => read(client, ["PLAN.md", "README.md"][round / 2 % 2], PLAN),
    });
}

#[test]
fn different_searches_that_seldom_find_anything() {
    check(None, |client, round| {
        let found = if round % 10 == 9 { words(round, 30) } else { "No matches found".to_owned() };
        client.tool("grep", &json!({"pattern": words(round, 1), "path": "src"}), &found);
    });
    check(None, |client, round| match round % 4 {
        0 => read(client, "src/types.ts", TYPES),
        3 => read(client, &words(round, 1), &words(round, 60)),
        _ => client.tool("grep", &json!({"pattern": words(round, 1), "path": "src"}), "No matches found"),
    });
}

#[test]
fn searches_that_never_find_anything() {
    check(Some(12), |client, round| {
        client.tool("grep", &json!({"pattern": words(round, 1), "path": "src"}), "No matches found");
    });
    check(Some(8), |client, round| {
        let query = format!("customer import {} columns", words(round, 1));
        client.tool("search", &json!({ "query": query }), "No results found.");
    });
    check(Some(8), |client, round| {
        client.tool("list_orders", &json!({"page": 30 + round}), r#"{"orders": []}"#);
    });
}

/// A price that goes up and down by little steps, the same on every run.
fn price(round: usize) -> f64 {
    let steps = (0..round).map(|at| (at * 7_919 + at * at * 31) % 41);
    640.0 + steps.map(|step| step as f64 / 10.0 - 2.0).sum::<f64>()
}

#[test]
fn figures_that_live_are_looked_at_every_few_seconds() {
    check(None, |client, round| {
        client.wait(4);
        client.tool(
            "get_price",
            &json!({"symbol": "ACME"}),
            &format!(r#"{{"symbol":"ACME","price":{:.2}}}"#, price(round)),
        );
    });
    check(None, |client, round| {
        let waiting = [14, 17, 12, 9, 15, 21, 18, 14, 11, 16][round % 10] + round * 7 % 5;
        client.wait(4);
        client.tool("queue_length", &json!({"queue": "orders"}), &format!("{waiting} messages are waiting"));
    });
}

#[test]
fn figures_that_only_jitter() {
    // Without a pause: no one watches like this.
    check(Some(5), |client, round| {
        let load = 11.0 + [0.0, 0.7, 0.3, 1.1, 0.5, 0.1, 0.9, 0.4, 1.2, 0.2][round % 10];
        client.tool("metric", &json!({"name": "cpu"}), &format!("{load:.1} %"));
    });
    check(Some(9), |client, round| {
        let seconds = 0.9 + (round * 617 % 997) as f64 / 2_000.0;
        client.tool("validate", &json!({}), &format!(r#"{{"errors": 0, "seconds": {seconds:.3}}}"#));
    });
    check(Some(6), |client, round| {
        let size = 48_300 + (round * 7_919 + 13) % 97;
        client.tool("fetch", &json!({"url": "https://example.com/"}), &format!("200 OK, {size} bytes, no change"));
    });
    check(Some(6), |client, round| {
        let score = 7_100 + (round * 7_919 + round * round * 13) % 97;
        client.tool("lookup", &json!({"name": "Szabo"}), &format!("Szabo, Anna, Budapest; relevance 0.{score}"));
    });
}
