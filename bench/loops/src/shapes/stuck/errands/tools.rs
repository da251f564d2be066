//! Loops with tools.

use serde_json::json;

use super::{agent, go_round};
use crate::conversation::Tool;
use crate::material::reworded::{self, spin};
use crate::material::{code, words};
use crate::rng::HEX;
use crate::run::Run;
use crate::shapes::{Shape, shapes};

pub(super) fn shapes() -> Vec<Shape> {
    shapes![true;
        server_started_again, build_numbers, opened_and_closed, four_steps_with_filler, search_in_polish, one_hit_with_scores,
        edit_there_and_back, verification_by_echo, arguments_with_nonce, same_tool_irregular]
}

/// The server says each time that it listens, on another port, and cannot be reached.
fn server_started_again(run: &mut Run) {
    let mut chat = agent(run, "You develop web sites.", &["start_server", "probe"], "Show me the start page.");
    go_round(run, 16, |run, _| {
        let (port, pid) = (run.rng.range(40_000..=65_000), run.rng.range(2_000..=32_000));
        let say = reworded::again(&mut run.rng, "the server");
        run.act(
            &mut chat,
            &say,
            Tool::new("start_server", json!({"dir": "site"})),
            &format!("listening on 127.0.0.1:{port} (pid {pid})"),
        );
        run.act_failing(
            &mut chat,
            "",
            Tool::new("probe", json!({"path": "/"})),
            &format!("connect ECONNREFUSED 127.0.0.1:{port}"),
        );
    });
}

fn build_numbers(run: &mut Run) {
    let mut chat = agent(run, "You release software.", &["trigger_build"], "Release version 4.");
    go_round(run, 30, |run, lap| {
        let commit = run.rng.text(HEX, 7);
        let seen = format!("build #{} of {commit} failed: the signing key has expired", 7_100 + lap);
        run.act(&mut chat, "", Tool::new("trigger_build", json!({"branch": "main"})), &seen);
    });
}

fn opened_and_closed(run: &mut Run) {
    let mut chat = agent(run, "You keep a ledger.", &["open_ledger", "close_ledger"], "Correct the entry of Monday.");
    go_round(run, 16, |run, _| {
        run.act(&mut chat, "", Tool::new("open_ledger", json!({"year": 2025})), "ledger 2025 is open for reading");
        let say = spin(&mut run.rng, "[It is read-only.|I cannot write here.|Not writable, I close it.]");
        run.act(&mut chat, &say, Tool::new("close_ledger", json!({"year": 2025})), "ledger 2025 closed");
    });
}

/// Four steps round and round, with a fresh look at something else now and then.
fn four_steps_with_filler(run: &mut Run) {
    let mut chat =
        agent(run, "You tune queries.", &["explain", "stats", "locks", "settings", "docs"], "Why is it slow?");
    let steps = [
        ("explain", "Nested Loop"),
        ("stats", "n_dead_tup is high"),
        ("locks", "no locks are held"),
        ("settings", "work_mem is 4MB"),
    ];
    go_round(run, 10, |run, _| {
        for (name, seen) in steps {
            let say = reworded::again(&mut run.rng, name);
            run.act(&mut chat, &say, Tool::new(name, json!({"table": "orders"})), seen);
        }
        if run.rng.chance(40) {
            let text = words::task(&mut run.rng);
            let topic = format!("{} {}", run.rng.pick(words::NOUNS), run.len());
            run.act(&mut chat, "", Tool::new("docs", json!({ "topic": topic })), &text);
        }
    });
}

fn search_in_polish(run: &mut Run) {
    let mut chat = agent(run, "Jesteś archiwistą.", &["szukaj"], "Znajdź akt urodzenia Jana Kowalskiego z 1887 roku.");
    go_round(run, 30, |run, _| {
        let query = spin(
            &mut run.rng,
            "[akt|metryka|wpis] [urodzenia|chrztu] [Jan|Jana|J.] [Kowalski|Kowalskiego] [1887|z 1887|rok 1887] [parafia|gmina|]",
        );
        run.act(&mut chat, "", Tool::new("szukaj", json!({ "zapytanie": query })), "Brak wyników wyszukiwania.");
    });
}

/// Always the same hit, with a score that differs.
fn one_hit_with_scores(run: &mut Run) {
    let mut chat = agent(run, "You answer from documents.", &["vector_search"], "How long is the notice period?");
    let passage = words::task(&mut run.rng);
    go_round(run, 30, |run, _| {
        let query = spin(
            &mut run.rng,
            "[notice period|termination notice|period of notice] [employee|staff|worker|contract] [months|weeks|duration|length|]",
        );
        let seen =
            json!({"hits": [{"score": format!("0.7{:04}", run.rng.range(0..=9_999)), "text": passage}]}).to_string();
        run.act(&mut chat, "", Tool::new("vector_search", json!({ "query": query })), &seen);
    });
}

/// A line is changed, found wrong, and changed back.
fn edit_there_and_back(run: &mut Run) {
    let mut chat = agent(run, "You repair firmware.", &["edit_line", "flash"], "The fan never stops. Repair that.");
    let lines = [code::line(&mut run.rng), code::line(&mut run.rng)];
    go_round(run, 10, |run, _| {
        for (old, new) in [(0, 1), (1, 0)] {
            let say =
                spin(&mut run.rng, "[That was wrong.|Other way round.|Let me change this line.|Now differently.]");
            let input = json!({"file": "fan.c", "old": lines[old], "new": lines[new]});
            run.act(&mut chat, &say, Tool::new("edit_line", input), "1 line changed");
            run.act_failing(&mut chat, "", Tool::new("flash", json!({})), "verify error: checksum mismatch at block 3");
        }
    });
}

/// The same announcement before commands that print what they are told to.
fn verification_by_echo(run: &mut Run) {
    let mut chat = agent(run, "You migrate wikis.", &["bash"], "Move the wiki to the new server.");
    go_round(run, 30, |run, lap| {
        let say = "The migration is complete. I will now run a final verification to make sure that everything has been moved correctly.";
        let text = format!("verification {lap}: {}", spin(&mut run.rng, "[all good|everything fine|complete|success]"));
        run.act(&mut chat, say, Tool::new("bash", json!({"command": format!("echo '{text}'")})), &text);
    });
}

fn arguments_with_nonce(run: &mut Run) {
    let mut chat = agent(run, "You pay suppliers.", &["payment_status"], "Has the payment arrived?");
    go_round(run, 30, |run, _| {
        let input = json!({"payment": "P-77120", "request_id": run.rng.text(HEX, 32), "timestamp": run.now});
        run.act(&mut chat, "", Tool::new("payment_status", input), "pending approval by a second person");
    });
}

/// The same failing call, half a minute to 80 seconds apart.
fn same_tool_irregular(run: &mut Run) {
    run.pace = 30_000..=80_000;
    let mut chat = agent(run, "You order spare parts.", &["place_order"], "Order the gasket.");
    go_round(run, 30, |run, _| {
        let say = reworded::again(&mut run.rng, "the order");
        run.act_failing(
            &mut chat,
            &say,
            Tool::new("place_order", json!({"part": "gasket 4"})),
            "Order refused: the credit limit is exceeded.",
        );
    });
}
