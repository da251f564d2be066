//! The same error whatever is tried.

use serde_json::json;

use super::super::steps::{begin, shell};
use super::super::{Shape, shapes};
use super::LAPS;
use crate::conversation::{Answer, Tool};
use crate::material::{code, reworded, words};
use crate::rng::{BASE62, HEX};
use crate::run::Run;

pub(super) fn shapes() -> Vec<Shape> {
    let codex = shapes![true; tiny_change_same_error, refused_finish];
    let mut shapes: Vec<Shape> = codex.into_iter().map(Shape::with_codex).collect();
    shapes.extend(shapes![true;
        other_ids_same_404, same_error_across_tools, approval_denied, unknown_tool, aborted_results, bursts_between_plans,
        auth_dance, invalid_json_retry, small_edits_same_failure, retry_storm, poisoned_history, other_directory_same_error, attempt_counter]);
    shapes
}

/// One command after another with a small change; always the same error.
fn tiny_change_same_error(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    let file = format!("/data/{}.csv", words::identifier(&mut run.rng));
    let error = format!("FileNotFoundError: [Errno 2] No such file or directory: '{file}'");
    for lap in 0..LAPS {
        if lap == 1 {
            run.mark_stuck();
        }
        let variants = [
            "print(open('{}').read())",
            "import pandas; pandas.read_csv('{}')",
            "import csv; list(csv.reader(open('{}')))",
        ];
        let script = run.rng.pick(&variants).replace("{}", &file);
        let flag = run.rng.pick(&["", "-u ", "-X utf8 ", "-I "]);
        shell(run, &mut chat, kit, (&format!("python3 {flag}-c \"{script}\" # {lap}"), &error, 1));
    }
}

/// `task_done` is refused for one reason, the answers are reworded: this stood at exactly the
/// threshold for 38 calls.
fn refused_finish(run: &mut Run) {
    let (_, mut chat) = begin(run);
    let refusal = "ERROR! Your patch is empty. Please provide a patch that fixes the problem.";
    for lap in 0..38 {
        if lap == 1 {
            run.mark_stuck();
        }
        let say =
            if run.rng.chance(60) { words::remark(&mut run.rng) } else { reworded::again(&mut run.rng, "task_done") };
        run.act(&mut chat, &say, Tool::new("task_done", json!({})), refusal);
    }
}

fn other_ids_same_404(run: &mut Run) {
    let (_, mut chat) = begin(run);
    for lap in 0..LAPS {
        if lap == 1 {
            run.mark_stuck();
        }
        let id = run.rng.text(BASE62, 12);
        let tool = Tool::new("mcp__crm__get_record", json!({ "id": id }));
        run.act_failing(&mut chat, "", tool, &format!("404 Not Found: record {id} does not exist"));
    }
}

fn other_directory_same_error(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    for lap in 0..LAPS {
        if lap == 1 {
            run.mark_stuck();
        }
        let folder = format!("{}/{}", run.rng.pick(words::MODULES), run.rng.pick(words::NOUNS));
        let error = format!("ls: cannot access '{folder}': No such file or directory");
        shell(run, &mut chat, kit, (&format!("ls {folder}"), &error, 2));
    }
}

/// Different tools, one cause.
fn same_error_across_tools(run: &mut Run) {
    let (_, mut chat) = begin(run);
    let error = run.rng.pick(&[
        "Error: connection refused by database at localhost",
        "PermissionError: the workspace is read-only",
        "401 Unauthorized: the token has expired",
    ]);
    let tools = ["query", "insert_row", "list_tables", "describe_table", "export_table", "count_rows"];
    for lap in 0..LAPS {
        if lap == 1 {
            run.mark_stuck();
        }
        let tool = Tool::new(run.rng.pick(&tools), json!({ "table": run.rng.pick(words::NOUNS) }));
        let say = words::remark(&mut run.rng);
        run.act_failing(&mut chat, &say, tool, error);
    }
}

fn approval_denied(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    let command = format!("rm -rf build/{}", run.rng.pick(words::MODULES));
    for lap in 0..LAPS {
        if lap == 1 {
            run.mark_stuck();
        }
        let say = reworded::again(&mut run.rng, "the command");
        let id = run.rng.text(HEX, 8);
        run.act_failing(
            &mut chat,
            &say,
            kit.shell(&command),
            &format!("Approval required (request {id}): the user has not approved this command."),
        );
    }
}

fn unknown_tool(run: &mut Run) {
    let (_, mut chat) = begin(run);
    let name = run.rng.pick(&["web_search", "browser", "python", "create_pull_request"]);
    for lap in 0..LAPS {
        if lap == 1 {
            run.mark_stuck();
        }
        let tool = Tool::new(name, json!({ "input": words::identifier(&mut run.rng) }));
        run.act_failing(&mut chat, "", tool, &format!("Error: unknown tool \"{name}\""));
    }
}

fn aborted_results(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    for lap in 0..LAPS {
        if lap == 1 {
            run.mark_stuck();
        }
        let path = words::path(&mut run.rng);
        run.act_failing(&mut chat, "", kit.read(&path), "[Request interrupted by user for tool use]");
    }
}

/// Three or four times the same error, a new plan, then the same error again.
fn bursts_between_plans(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    let error = "psql: error: connection to server failed: FATAL: password authentication failed for user \"app\"";
    let topic = run.rng.pick(words::MODULES);
    for burst in 0..9 {
        if burst == 1 {
            run.mark_stuck();
        }
        for _ in 0..run.rng.count(3..=4) {
            let sql = format!("psql -c 'select * from {}'", run.rng.pick(words::NOUNS));
            shell(run, &mut chat, kit, (&sql, error, 2));
        }
        let steps = reworded::plan(&mut run.rng, topic);
        run.act(&mut chat, "I need to rethink this.", kit.plan(&steps, 0), kit.planned());
    }
}

/// Start, link with a new token, poll, expired, start again.
fn auth_dance(run: &mut Run) {
    let (_, mut chat) = begin(run);
    for lap in 0..13 {
        if lap == 1 {
            run.mark_stuck();
        }
        let code = run.rng.text("ABCDEFGHJKLMNPQRSTUVWXYZ23456789", 8);
        let link = format!("Open https://auth.example.com/device?code={code} and sign in.");
        run.act(&mut chat, "", Tool::new("oauth_start", json!({"scope": "mail"})), &link);
        run.act(
            &mut chat,
            "",
            Tool::new("oauth_poll", json!({ "device_code": code })),
            r#"{"error":"authorization_pending"}"#,
        );
        run.act(&mut chat, "", Tool::new("oauth_poll", json!({ "device_code": code })), r#"{"error":"expired_token"}"#);
    }
}

/// The harness cannot parse the answer and asks again.
fn invalid_json_retry(run: &mut Run) {
    let session = run.session();
    let mut chat = run.open_with("Answer with JSON only.", &[], session);
    chat.push_user(&words::task(&mut run.rng));
    let broken = format!("{{\"summary\": \"{}\", \"items\": [", words::identifier(&mut run.rng));
    for lap in 0..LAPS {
        if lap == 1 {
            run.mark_stuck();
        }
        run.answer(&mut chat, &broken);
        chat.push_user("Your answer is not valid JSON. Try again and answer with JSON only.");
    }
}

/// Small edits that all fail to apply for the same reason, each with other words.
fn small_edits_same_failure(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    let path = words::path(&mut run.rng);
    for lap in 0..LAPS {
        if lap == 1 {
            run.mark_stuck();
        }
        let (old, new) = (code::line(&mut run.rng), code::line(&mut run.rng));
        run.act_failing(&mut chat, "", kit.edit(&path, &old, &new), &kit.no_match(&path));
    }
}

/// One request that fails for ever and is sent for ever.
fn retry_storm(run: &mut Run) {
    let (_, chat) = begin(run);
    run.pace = 800..=4_000;
    for lap in 0..60 {
        if lap == 1 {
            run.mark_stuck();
        }
        run.send(&chat, None);
    }
}

/// The provider rejects the history; the user's "continue" makes it longer, never better.
fn poisoned_history(run: &mut Run) {
    let (_, mut chat) = begin(run);
    for lap in 0..LAPS {
        if lap == 1 {
            run.mark_stuck();
        }
        chat.push_user("continue");
        run.send(&chat, None);
        chat.push_answer(&Answer { text: "The provider returned an error.".to_owned(), calls: Vec::new() });
    }
}

/// The error counts its attempts: a number that rises and means nothing.
fn attempt_counter(run: &mut Run) {
    let (_, mut chat) = begin(run);
    let (host, words_before) = (run.rng.pick(words::MODULES), run.rng.pick(&["attempt", "try", "retry no."]));
    for lap in 0..LAPS {
        if lap == 1 {
            run.mark_stuck();
        }
        let error = format!("Error: connection to {host} refused ({words_before} {})", lap + 1);
        run.act_failing(&mut chat, "", Tool::new("connect", json!({ "host": host })), &error);
    }
}
