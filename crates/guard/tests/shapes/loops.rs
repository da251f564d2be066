//! Loops end in a kill, and at which call.

use serde_json::json;

use crate::client::{Client, killed_at, words};

/// Plays rounds until the kill and checks at which call it comes.
fn check(expected: usize, round: impl FnMut(&mut Client, usize)) {
    assert_eq!(killed_at(round), Some(expected));
}

#[test]
fn the_same_call_with_the_same_result() {
    check(5, |client, _| client.tool("bash", &json!({"command": "ls"}), "a.rs\nb.rs"));
}

#[test]
fn the_same_call_with_an_empty_result() {
    check(5, |client, _| client.tool("read_file", &json!({"path": "notes.md"}), ""));
}

#[test]
fn the_same_call_whose_output_has_a_clock_and_an_id() {
    check(5, |client, round| {
        let output = format!("2026-01-02T03:04:{:02}Z run 550e8400-e29b-41d4-a716-{round:012} failed", round % 60);
        client.tool("bash", &json!({"command": "make"}), &output);
    });
}

#[test]
fn a_tiny_change_of_the_arguments_and_the_same_error() {
    check(7, |client, round| {
        let code = format!("import pandas; frame = pandas.read_csv('data.csv'); print(frame.{})", words(round, 1));
        let error = "FileNotFoundError: [Errno 2] No such file or directory: 'data.csv'";
        client.tool("python", &json!({ "code": code }), error);
    });
}

#[test]
fn one_error_across_tools() {
    check(7, |client, round| {
        let tool = ["read", "write", "list", "search"][round % 4];
        client.tool(tool, &json!({"path": words(round, 1)}), "Error: the sandbox is not available");
    });
}

#[test]
fn ping_pong() {
    check(7, |client, round| {
        let tool = ["search", "open"][round % 2];
        client.tool(tool, &json!({"query": "import"}), ["three hits", "the page"][round % 2]);
    });
}

#[test]
fn a_longer_cycle() {
    check(10, |client, round| {
        let tool = ["search", "open", "list", "status"][round % 4];
        client.tool(tool, &json!({"about": "import"}), ["three hits", "the page", "two files", "idle"][round % 4]);
    });
}

#[test]
fn a_repeat_with_varying_filler_between() {
    check(8, |client, round| match round % 2 {
        0 => client.tool("bash", &json!({"command": "cargo test"}), "test import ... FAILED"),
        _ => client.tool("read_file", &json!({"path": words(round, 1)}), &words(round, 40)),
    });
}

#[test]
fn the_same_set_of_parallel_calls_every_round() {
    check(6, |client, round| {
        let mut calls = [("list", json!({"path": "src"}), "a.rs"), ("status", json!({}), "clean")];
        calls.rotate_left(round % 2);
        client.tools(&calls);
    });
}

#[test]
fn an_edit_that_fails_and_is_tried_again_after_a_look() {
    check(6, |client, round| match round % 2 {
        0 => client.tool("edit", &json!({"old": "let a = 1;", "new": "let a = 2;"}), "Error: no match for `old`"),
        _ => client.tool("read_file", &json!({"path": "a.rs"}), "let a = 3;"),
    });
}

#[test]
fn a_denied_approval_that_is_asked_for_again() {
    check(6, |client, _| client.tool("deploy", &json!({"to": "production"}), "approval required"));
}

#[test]
fn a_tool_that_does_not_exist() {
    check(5, |client, _| client.tool("fetch_url", &json!({"url": "https://example.com"}), "unknown tool fetch_url"));
}

#[test]
fn aborted_results_that_are_replayed() {
    check(5, |client, _| client.tool("bash", &json!({"command": "make all"}), "Aborted"));
}

#[test]
fn a_file_that_is_read_beyond_its_end() {
    check(8, |client, round| {
        let offset = 200 + 40 * round;
        let warning = format!(
            "<system-reminder>Warning: the file exists but is shorter than the provided offset ({offset}). \
            The file has 160 lines.</system-reminder>"
        );
        client.tool("Read", &json!({"file_path": "docs/spec.md", "offset": offset, "limit": 40}), &warning);
    });
}

#[test]
fn narration_without_a_tool_call() {
    check(6, |client, _| {
        client.hear("I have everything that I need now. Let me write the document with all of the findings.");
        client.say("Please continue.");
    });
}

#[test]
fn an_empty_response_that_is_asked_for_again() {
    check(12, |client, _| {
        client.hear_nothing();
        client.wait(60);
    });
}

#[test]
fn a_storm_of_retries() {
    check(20, |client, _| client.fail());
}

#[test]
fn a_heartbeat_that_runs_wild() {
    const HEARTBEAT: &str = "Read HEARTBEAT.md and follow it. If nothing needs attention, reply HEARTBEAT_OK.";
    check(6, |client, _| {
        client.wait(90);
        client.say(HEARTBEAT);
        client.hear("HEARTBEAT_OK");
    });
    check(6, |client, _| {
        client.wait(90);
        client.start_over(HEARTBEAT);
        client.hear("HEARTBEAT_OK");
    });
}

#[test]
fn a_tool_that_is_forced() {
    check(5, |client, _| client.tool("save_memory", &json!({"text": "The user likes tea."}), "saved"));
}

#[test]
fn an_answer_that_cannot_be_parsed() {
    check(6, |client, _| {
        client.hear("Here is the result: {status: done, items: [1, 2,], note: the import was fixed}");
        client.say("Your answer is not valid JSON. Try again.");
    });
}

#[test]
fn a_plan_that_is_only_reworded() {
    let steps = "Read the importer and its tests. Find the row that fails and the column that it lacks. Write a test for \
                 that row. Change the reader so that a missing column is empty. Run all tests of the importer again. Look \
                 for other readers with the same fault and note them. Tell the user what was wrong and how it was fixed. \
                 Keep the change small and leave the format of the records as it is, since other programs read them too.";
    check(6, |client, round| {
        let plan = format!("{steps} Then stop at {}.", words(round, 1));
        client.tool("update_plan", &json!({ "plan": plan, "status": "open" }), "Plan updated");
    });
}

#[test]
fn validating_the_validation() {
    check(7, |client, round| {
        let tool = ["validate", "verify_validation"][round % 2];
        client.tool(tool, &json!({"what": "the import"}), "all checks passed");
    });
}

#[test]
fn a_login_that_never_ends() {
    check(13, |client, round| match round % 3 {
        0 => client.tool(
            "start_login",
            &json!({}),
            &format!("open https://login.example.com/?state={}", words(round, 1)),
        ),
        1 => client.tool("poll", &json!({}), "authorization_pending"),
        _ => client.tool("exchange", &json!({"code": words(round, 1)}), "Error: invalid_grant"),
    });
}

#[test]
fn a_text_agent_that_runs_the_same_command() {
    check(6, |client, round| {
        client.hear(&format!("I think {} of it.\n\n```bash\npython reproduce.py\n```", words(round, 12)));
        client.say("Traceback (most recent call last): the importer failed with a KeyError for the column name");
    });
}

#[test]
fn the_same_result_behind_a_header_of_its_client() {
    check(5, |client, round| {
        let header = format!("Chunk ID: {:06x}\nWall time: 0.{round:04} seconds", 0x4fe6ad + round * 7_919);
        let result = format!("{header}\nProcess exited with code 1\nOutput:\nno such service");
        client.tool("exec_command", &json!({"cmd": "sh check.sh"}), &result);
    });
}

#[test]
fn the_same_refusal_for_another_path() {
    check(7, |client, round| {
        let path = format!("{}/{}", words(round, 1), words(round + 100, 1));
        let error = format!("ls: cannot access '{path}': No such file or directory");
        client.tool("bash", &json!({"command": format!("ls {path}")}), &error);
    });
}

#[test]
fn a_search_in_other_words_that_finds_nothing() {
    check(11, |client, round| client.tool("search", &json!({"query": words(round, 3)}), "[]"));
}

#[test]
fn a_size_that_jitters() {
    check(5, |client, round| {
        let size = ["48.35", "48.30", "48.66", "48.38", "48.41", "48.32"][round % 6];
        client.tool("fetch", &json!({"url": "https://example.com"}), &format!("transferred {size} KB, queued"));
    });
}

#[test]
fn a_cycle_of_eight() {
    check(18, |client, round| {
        let step = round % 8;
        client.tool("open", &json!({"page": words(step, 1)}), &words(step, 20));
    });
}

#[test]
fn thanks_that_never_end() {
    let thanks = ["Thank you so much for all of your help today!", "You are very welcome, it was a pleasure to help!"];
    check(7, |client, round| {
        client.hear(thanks[round % 2]);
        client.say(thanks[(round / 2) % 2]);
    });
}

#[test]
fn the_same_message_sent_again_under_another_number() {
    check(6, |client, round| {
        let arguments = json!({"to": "ops@example.com", "text": "The import has failed."});
        client.tool("send_email", &arguments, &format!("sent as message {}", 34 + round));
    });
}

#[test]
fn a_search_that_repeats_its_query_and_finds_nothing() {
    check(11, |client, round| {
        let query = words(round, 3);
        client.tool("search", &json!({ "query": query }), &format!("No results found for \"{query}\"."));
    });
}

#[test]
fn an_empty_page_that_repeats_its_number() {
    check(8, |client, round| {
        let result = format!(r#"{{"page": {round}, "items": []}}"#);
        client.tool("list_orders", &json!({ "page": round }), &result);
    });
}

#[test]
fn answers_that_are_empty() {
    check(12, |client, _| {
        client.say("Please continue.");
        client.hear("");
    });
}

#[test]
fn the_report_of_one_sub_agent_after_the_other() {
    check(8, |client, round| {
        let report = "I was not able to find a leak in the code that you gave me.";
        client.tool("Task", &json!({"prompt": words(round, 9)}), report);
    });
}

#[test]
fn a_complaint_that_is_answered_with_words() {
    check(8, |client, round| {
        client.say("ERROR! Your patch is empty. Please provide a patch that fixes the issue.");
        client.hear(&words(round, 30));
    });
}
