//! One thing after the other, and sources that give something else each time: the same words for
//! different work.

use serde_json::json;

use crate::client::{Client, killed_at, words};

fn check(round: impl FnMut(&mut Client, usize)) {
    assert_eq!(killed_at(round), None);
}

#[test]
fn records_by_id_are_different_calls() {
    check(|client, round| {
        let id = format!("f47ac10b-58cc-4372-a567-{round:012x}");
        client.tool("archive", &json!({ "id": id }), r#"{"ok":true}"#);
    });
}

#[test]
fn ids_in_a_command_are_different_calls() {
    check(|client, round| {
        let command = format!("docker rm {:012x}", 0x1da2_d685_c314_u64 + round as u64 * 7_919);
        client.tool("bash", &json!({ "command": command }), "removed");
    });
}

#[test]
fn times_in_arguments_are_different_calls() {
    check(|client, round| {
        let at = format!("2026-{:02}-{:02}T07:00:00Z", 1 + round / 28 % 12, 1 + round % 28);
        client.tool("set_reminder", &json!({"at": at, "text": "Take the pill"}), "reminder set");
    });
}

#[test]
fn many_things_may_be_in_the_same_state() {
    check(|client, round| client.tool("check_status", &json!({"service": words(round, 1)}), "ok"));
}

#[test]
fn commands_without_output_do_something() {
    check(|client, round| {
        let command = format!("tmux send-keys -t work '{}' Enter", words(round, 2));
        client.tool("bash", &json!({ "command": command }), "");
    });
}

#[test]
fn a_number_of_ten_digits_may_be_an_amount() {
    check(|client, round| {
        let result = format!("processed {} of 2100000000 records", 1_760_213_441 + round * 1_371);
        client.tool("job_status", &json!({}), &result);
    });
}

#[test]
fn a_job_stands_still_for_a_while() {
    check(|client, round| {
        let done = round / 4 + round.min(5);
        client.tool("checks", &json!({}), &format!("{done} of 370 checks completed"));
    });
}

#[test]
fn the_same_test_for_one_revision_after_the_other() {
    check(|client, round| match round % 2 {
        0 => client.tool("bash", &json!({"command": "git bisect good"}), &format!("left: {}", words(round, 9))),
        _ => client.tool("bash", &json!({"command": "make -s check-one"}), "FAIL"),
    });
}

#[test]
fn an_answer_is_saved_for_every_item_of_a_queue() {
    check(|client, round| match round % 2 {
        0 => client.tool("next_item", &json!({}), &words(round, 12)),
        _ => client.tool("save", &json!({"label": "a"}), r#"{"ok":true}"#),
    });
}

#[test]
fn notes_are_read_at_every_turn() {
    check(|client, round| {
        client.say(&words(round, 14));
        client.tool("read_memory", &json!({}), "- prefers short answers");
        client.hear(&words(round + 1_000, 20));
    });
}

#[test]
fn patches_that_are_written_as_text_are_edits() {
    check(|client, round| {
        let patch = format!("<<<<<<< SEARCH\n{}\n=======\n{}\n>>>>>>> REPLACE", words(round, 4), words(round + 1, 4));
        client.hear(&format!("I change it.\n\n```python\n{patch}\n```"));
        client.say("# Fix any errors below, if possible.\n3 failed, 9 passed in the tests of the importer today");
    });
}

#[test]
fn temporary_files_are_worked_through() {
    check(|client, round| {
        let file = format!("/tmp/upload_{:08x}.docx", 0x9a3f_11c2_u64 + round as u64 * 7_919);
        client.tool("convert", &json!({"file": file, "to": "pdf"}), "converted");
    });
}

#[test]
fn one_thing_after_the_other_is_refused_and_done_right() {
    check(|client, round| {
        let (table, default) = (words(round / 2, 1), ["", " default now()"][round % 2]);
        let result = ["ERROR: the column contains null values", "ALTER TABLE"][round % 2];
        client.tool("execute_sql", &json!({"sql": format!("alter table {table} add at timestamptz{default}")}), result);
    });
}

#[test]
fn an_install_fails_a_few_times_until_the_mirror_answers() {
    check(|client, round| {
        let command = json!({"command": format!("pip install {}", words(round / 5, 1))});
        client.wait(20);
        let is_last = round % 5 == 4;
        client.tool("bash", &command, if is_last { "Successfully installed" } else { "ERROR: Read timed out." });
    });
}

#[test]
fn the_same_announcement_before_steps_that_do_something() {
    check(|client, round| {
        let say = "Proceeding with the next tenant as the runbook says and as agreed with the release manager.";
        client.say_and_call(say, "set_flag", &json!({"tenant": words(round, 1)}), "flag set");
    });
}
