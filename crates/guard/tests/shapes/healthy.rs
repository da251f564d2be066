//! Work that repeats itself and still gets somewhere ends without a kill.

use serde_json::json;

use crate::client::{Client, killed_at, words};

/// Plays rounds until there were many calls.
fn check(round: impl FnMut(&mut Client, usize)) {
    assert_eq!(killed_at(round), None);
}

#[test]
fn polling_a_job_until_it_ends() {
    check(|client, round| {
        client.tool("job_status", &json!({"job": "import"}), if round % 16 == 15 { "done" } else { "running" });
        client.wait(120);
    });
}

#[test]
fn a_long_wait_in_which_nothing_else_is_allowed() {
    check(|client, _| {
        client.tool("wait", &json!({"seconds": 60}), "still waiting");
        client.wait(60);
    });
}

#[test]
fn the_same_header_for_many_files() {
    let header =
        "Licensed under the Apache License. You may not use this file except in compliance with it. ".repeat(20);
    check(|client, round| {
        let arguments = json!({"path": format!("src/{}.rs", words(round, 1)), "insert": header});
        client.tool("edit", &arguments, "File updated");
    });
}

#[test]
fn the_same_test_between_edits() {
    check(|client, round| match round % 2 {
        0 => client.tool("edit", &json!({"path": "a.rs", "text": words(round, 30)}), "File updated"),
        _ => client.tool("bash", &json!({"command": "cargo test"}), &format!("error: {} failed", words(round, 6))),
    });
}

#[test]
fn reading_a_stream_in_pages_with_the_same_arguments() {
    check(|client, round| client.tool("read_output", &json!({"process": "build"}), &words(round, 60)));
}

#[test]
fn a_harness_that_asks_to_go_on() {
    check(|client, round| {
        client.hear(&words(round, 30));
        client.say("Please continue. If the task is complete, reply with DONE.");
    });
}

#[test]
fn a_form_that_is_filled_in_again_and_again() {
    let page = "- textbox \"Name\" [ref=e14]\n- button \"Save and add another\" [ref=e22]";
    check(|client, round| match round % 3 {
        0 => client.tool("browser_snapshot", &json!({}), page),
        1 => client.tool("browser_type", &json!({"ref": "e14", "text": words(round, 2)}), "typed"),
        _ => client.tool("browser_click", &json!({"ref": "e22"}), "- alert: Saved"),
    });
}

#[test]
fn exploring() {
    check(|client, round| client.tool("read_file", &json!({"path": words(round, 1)}), &words(round, 60)));
}

#[test]
fn reading_an_anchor_file_again_while_exploring() {
    check(|client, round| match round % 4 {
        0 => client.tool("read_file", &json!({"path": "README.md"}), "All that there is to know about it."),
        _ => client.tool("read_file", &json!({"path": words(round, 1)}), &words(round, 60)),
    });
}

#[test]
fn a_batch_with_one_template_and_short_equal_answers() {
    let template = "You are given a review of a product. Decide whether the person who wrote it liked the product. Answer \
                    with one word: positive or negative. Do not explain your answer and do not add anything to it. Think \
                    of irony and of reviews that praise the shop and not the product. ";
    check(|client, round| {
        client.start_over(&format!("{}{} Review: {}", template.repeat(6), template, words(round, 5)));
        client.hear("positive");
    });
}

#[test]
fn extracting_with_one_template_where_there_is_nothing() {
    let template = "Extract the name, the date, the amount and the address from this letter as JSON. ".repeat(12);
    check(|client, round| {
        client.start_over(&format!("{template}{}", words(round, 40)));
        client.hear(r#"{"name": null, "date": null, "amount": null, "address": null, "reason": "not in the letter"}"#);
    });
}

#[test]
fn sub_agents_that_begin_alike() {
    check(|client, round| {
        client.start_over(&format!("You are a sub-agent. Look into the module {} and report.", words(round, 3)));
        client.tool("bash", &json!({"command": "ls"}), "src tests README.md");
        client.hear(&format!("I have looked into it and found {}.", words(round, 20)));
    });
}

#[test]
fn sub_agents_that_are_started_in_the_background() {
    check(|client, round| {
        let task = json!({"description": words(round, 3), "prompt": words(round, 40), "run_in_background": true});
        client.tool(
            "Agent",
            &task,
            "Async agent launched successfully. You are notified when it has finished its task.",
        );
    });
}

#[test]
fn identical_calls_fanned_out_in_one_turn() {
    check(|client, round| {
        let call = ("roll_dice", json!({"sides": 6, "for": words(round, 1)}), "rolled");
        client.tools(&vec![call; 10]);
    });
}

#[test]
fn a_heartbeat_on_its_schedule() {
    check(|client, _| {
        client.wait(1_800);
        client.start_over("Read HEARTBEAT.md and follow it. If nothing needs attention, reply HEARTBEAT_OK.");
        client.hear("HEARTBEAT_OK");
    });
}

#[test]
fn a_heartbeat_among_other_work() {
    check(|client, round| {
        client.wait(300);
        client.start_over("Read HEARTBEAT.md and follow it. If nothing needs attention, reply HEARTBEAT_OK.");
        client.hear("HEARTBEAT_OK");
        client.start_over(&words(round, 12));
        client.hear(&words(round, 20));
    });
}

#[test]
fn retries_of_an_sdk() {
    check(|client, round| {
        client.fail();
        client.fail();
        client.tool("read_file", &json!({"path": words(round, 1)}), &words(round, 30));
    });
}

#[test]
fn answers_that_are_generated_again() {
    check(|client, round| {
        client.start_over(&format!("Write a poem about {} and make it rhyme.", words(round, 4)));
        for again in 0..3 {
            client.sample(&[&words(round * 100 + again, 40)]);
        }
    });
}

#[test]
fn the_best_of_eight() {
    check(|client, round| {
        client.start_over(&format!("What is the sum of the numbers in this list: {}?", words(round, 8)));
        client.sample(&["The sum of them is four thousand and twelve, which is the answer to the question."; 8]);
    });
}

#[test]
fn tables_with_the_same_head() {
    check(|client, round| {
        client.say(&format!("Now the table for {}.", words(round, 2)));
        let rows: String =
            (0..6).map(|row| format!("| {} | {} |\n", words(round * 10 + row, 1), words(row, 1))).collect();
        client.hear(&format!("| name of the column | what it holds |\n|---|---|\n{rows}"));
    });
}

#[test]
fn a_plan_that_moves_on() {
    check(|client, round| match round % 2 {
        0 => {
            let steps: Vec<_> = (0..80).map(|step| if step < round { "done" } else { "open" }).collect();
            client.tool("update_plan", &json!({ "plan": "the same plan as ever", "steps": steps }), "Plan updated");
        }
        _ => client.tool("edit", &json!({"path": words(round, 1), "text": words(round, 20)}), "File updated"),
    });
}

#[test]
fn titles_of_sessions() {
    check(|client, round| {
        client.start_over(&format!("Please help me with {}.", words(round, 6)));
        client.hear(&words(round, 30));
        client.say("Write a title of at most five words for the conversation so far. Answer with the title alone.");
        client.hear(&words(round, 4));
    });
}

#[test]
fn work_that_goes_on_after_a_compaction() {
    check(|client, round| {
        if round % 12 == 0 {
            client.start_over(&format!("The work so far: {}. Go on with it.", words(round, 30)));
            client.tool("bash", &json!({"command": "git status"}), "nothing to commit");
            client.tool("read_file", &json!({"path": "PLAN.md"}), "the plan");
        }
        client.tool("edit", &json!({"path": "a.rs", "text": words(round, 20)}), "File updated");
    });
}

#[test]
fn compactions_of_long_work() {
    check(|client, round| {
        if round % 3 == 2 {
            client.say(
                "The conversation has become long. Write a summary of it that holds every decision, every file that was \
                 changed and what is left to do. Answer with the summary alone, and call no tools.",
            );
            client.hear(&words(round, 60));
            client.start_over(&format!("Summary of the work so far: {}. Go on.", words(round, 60)));
        }
        client.tool("edit", &json!({"path": words(round, 1), "text": words(round, 20)}), "File updated");
    });
}

#[test]
fn scrolling() {
    check(|client, round| client.tool("scroll", &json!({"direction": "down"}), &words(round, 50)));
}

#[test]
fn one_file_with_a_new_error_each_time() {
    check(|client, round| {
        let command = json!({"command": "sed -i s/one/two/ a.rs && cargo build"});
        client.tool("bash", &command, &format!("error: {} in a.rs", words(round, 5)));
    });
}

#[test]
fn a_suite_that_stays_red_through_many_fixes() {
    check(|client, round| match round % 2 {
        0 => client.tool("edit", &json!({"path": "a.rs", "text": words(round, 30)}), "File updated"),
        _ => client.tool("bash", &json!({"command": "cargo test"}), "test result: FAILED. 3 failed"),
    });
}

#[test]
fn a_summary_line_whose_failures_fall() {
    check(|client, round| match round % 2 {
        0 => client.tool("replace", &json!({"file_path": "a.py", "new_string": words(round, 9)}), "Success"),
        _ => client.tool("bash", &json!({"command": "pytest -q"}), &format!("{} failed", 60 - round)),
    });
}

#[test]
fn a_job_whose_percentage_rises() {
    check(|client, round| client.tool("job_status", &json!({"id": "import"}), &format!("running, {round}%")));
}

#[test]
fn the_next_row_with_the_same_arguments() {
    check(|client, round| {
        let row = format!(r#"{{"row": {round}, "amount": {}}}"#, (round * 7_919) % 1_000);
        client.tool("next_row", &json!({}), &row);
    });
}

#[test]
fn a_wait_of_its_own_before_each_look() {
    check(|client, round| match round % 2 {
        0 => {
            client.wait(60);
            client.tool("bash", &json!({"command": "sleep 60"}), "");
        }
        _ => client.tool("bash", &json!({"command": "gh pr checks 12"}), "build pending"),
    });
}

#[test]
fn a_schedule_of_three_minutes() {
    check(|client, _| {
        client.wait(180);
        client.say("Check for new mail and file it under the right label, then report.");
        client.hear("There is no new mail.");
    });
}

#[test]
fn refused_then_done_right_on_one_file_after_another() {
    check(|client, round| {
        let file = json!({"path": words(round / 3, 1), "text": words(round / 3, 20)});
        match round % 3 {
            0 => client.tool("edit", &file, "Error: the file has not been read yet. Read it first."),
            1 => client.tool("read_file", &json!({"path": words(round / 3, 1)}), &words(round / 3 + 500, 40)),
            _ => client.tool("edit", &file, "File updated"),
        }
    });
}

#[test]
fn a_harness_that_asks_for_the_same_again() {
    check(|client, round| {
        client.say("Please go on with the task as described above until everything in it is done and tested.");
        client.tool("edit", &json!({"path": words(round, 1), "text": words(round, 20)}), "File updated");
    });
}
