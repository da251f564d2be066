//! The same call with the same result.

use serde_json::json;

use super::super::steps::{begin, edit, shell};
use super::super::{Shape, shapes};
use super::LAPS;
use crate::conversation::{Answer, Kit, Linked, Outcome, Tool};
use crate::material::{code, reworded, words};
use crate::run::Run;

pub(super) fn shapes() -> Vec<Shape> {
    let codex = shapes![true;
        same_call_same_result, same_call_empty_result, same_call_reworded, wait_without_waiting, poll_unchanged_seconds];
    let mut shapes: Vec<Shape> = codex.into_iter().map(Shape::with_codex).collect();
    shapes.extend(shapes![true;
        read_empty_file, forced_tool, same_payment_new_receipt, identical_parallel_calls, same_set_every_round,
        same_booking_between_users, same_stream_replayed, status_jitter, late_loop]);
    shapes
}

/// A tool call with its result, of one of many kinds of agents.
pub(super) fn any_step(run: &mut Run, kit: Kit) -> (Tool, String) {
    let path = words::path(&mut run.rng);
    match run.rng.below(6) {
        0 => (
            kit.shell(&format!("ls {}", path.split('/').next().unwrap_or("src"))),
            words::paths(&mut run.rng, 4).join("\n"),
        ),
        1 => (kit.read(&path), code::listing(&mut run.rng, 1, 6)),
        2 => {
            let order = run.rng.range(1_000..=9_999);
            let result = json!({"order": order, "state": "open", "item": run.rng.pick(words::PRODUCTS)});
            (Tool::new("get_order", json!({ "order_id": order })), result.to_string())
        }
        3 => {
            let (from, to) = (run.rng.pick(words::CITIES), run.rng.pick(words::CITIES));
            (Tool::new("search_flights", json!({"from": from, "to": to})), r#"{"flights": []}"#.to_owned())
        }
        4 => {
            let name = words::identifier(&mut run.rng);
            (kit.search(&name, "src"), format!("{path}:12: {name}"))
        }
        _ => (
            Tool::new("mcp__calendar__list_events", json!({"day": "2026-03-04"})),
            "Standup 09:30\nReview 14:00".to_owned(),
        ),
    }
}

fn same_call_same_result(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    let (tool, result) = any_step(run, kit);
    let say = words::remark(&mut run.rng);
    for lap in 0..LAPS {
        if lap == 1 {
            run.mark_stuck();
        }
        run.act(&mut chat, &say, tool.clone(), &result);
    }
}

/// The empty result is taken for a failure.
fn same_call_empty_result(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    let (tool, _) = any_step(run, kit);
    let empty = run.rng.pick(&["", "[]", "(empty file)", "No output", "{}", "null"]);
    for lap in 0..LAPS {
        if lap == 1 {
            run.mark_stuck();
        }
        run.act(&mut chat, "", tool.clone(), empty);
    }
}

/// A new thought every time, always the same call.
fn same_call_reworded(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    let (tool, result) = any_step(run, kit);
    for lap in 0..LAPS {
        if lap == 1 {
            run.mark_stuck();
        }
        let say = reworded::again(&mut run.rng, &tool.name);
        run.act(&mut chat, &say, tool.clone(), &result);
    }
}

/// Several reads of one empty file in other spellings of its path.
fn read_empty_file(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    let path = words::path(&mut run.rng);
    for lap in 0..LAPS {
        if lap == 1 {
            run.mark_stuck();
        }
        let spelled = run.rng.pick(&["", "./", "./"]).to_owned() + &path;
        let say = reworded::again(&mut run.rng, "reading the file");
        run.act(&mut chat, &say, kit.read(&spelled), "(empty file)");
    }
}

/// Sleeps a second, asks for the status, for ever: nothing changes within seconds.
fn wait_without_waiting(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    let job = run.rng.pick(words::MODULES);
    run.pace = 1_500..=3_000;
    for lap in 0..LAPS / 2 {
        if lap == 1 {
            run.mark_stuck();
        }
        shell(run, &mut chat, kit, ("sleep 1", "", 0));
        shell(run, &mut chat, kit, (&format!("./jobs status {job}"), "state: pending", 0));
    }
}

/// A tool that always returns the same, asked every few seconds.
fn poll_unchanged_seconds(run: &mut Run) {
    let (_, mut chat) = begin(run);
    let seconds = run.rng.range(1..=5);
    run.pace = seconds * 1_000..=seconds * 1_000 + 500;
    let tool = Tool::new("get_job_status", json!({"job_id": run.rng.range(100..=999)}));
    for lap in 0..LAPS {
        if lap == 1 {
            run.mark_stuck();
        }
        run.act(&mut chat, "", tool.clone(), r#"{"state":"running","progress":40}"#);
    }
}

/// `tool_choice` is never reset: the tool must be called at every step.
fn forced_tool(run: &mut Run) {
    let (_, mut chat) = begin(run);
    for lap in 0..LAPS {
        if lap == 1 {
            run.mark_stuck();
        }
        let tool = Tool::new("save_memory", json!({"fact": "The user likes short answers."}));
        let id = run.rng.range(1_000..=9_999);
        run.act(&mut chat, "", tool, &format!("Memory saved with id {id}."));
    }
}

/// The same refund again and again; every one works and has a number of its own.
fn same_payment_new_receipt(run: &mut Run) {
    let (_, mut chat) = begin(run);
    let (person, amount) = (run.rng.pick(words::PEOPLE), run.rng.range(4..=90));
    for lap in 0..LAPS {
        if lap == 1 {
            run.mark_stuck();
        }
        let say = format!("I refund {amount} to {person} now.");
        let tool = Tool::new("send_money", json!({"to": person, "amount": amount, "subject": "Refund"}));
        let receipt = crate::material::volatile::uuid(&mut run.rng);
        run.act(&mut chat, &say, tool, &format!("{{\"status\":\"sent\",\"transaction\":\"{receipt}\"}}"));
    }
}

/// One answer with the same call several times, round after round.
fn identical_parallel_calls(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    let (tool, result) = any_step(run, kit);
    for lap in 0..LAPS {
        if lap == 1 {
            run.mark_stuck();
        }
        let steps = vec![(tool.clone(), result.clone()); 4];
        run.act_all(&mut chat, "", steps);
    }
}

/// The same set of different calls in every round, in another order.
fn same_set_every_round(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    let steps: Vec<(Tool, String)> = (0..4).map(|_| any_step(run, kit)).collect();
    for lap in 0..LAPS {
        if lap == 1 {
            run.mark_stuck();
        }
        let shuffled = run.rng.sample(&steps, 4);
        let say = reworded::again(&mut run.rng, "the four lookups");
        run.act_all(&mut chat, &say, shuffled);
    }
}

/// The same failing booking, each time with another message of the user in between.
fn same_booking_between_users(run: &mut Run) {
    let session = run.session();
    let mut chat = run.open_with("You book flights.", &["update_reservation"], session);
    let flight = format!("HA{}", run.rng.range(100..=999));
    for lap in 0..LAPS / 2 {
        if lap == 1 {
            run.mark_stuck();
        }
        chat.push_user(&words::task(&mut run.rng));
        let tool = Tool::new("update_reservation", json!({"reservation": "XEWRD9", "flight": flight}));
        run.act_failing(&mut chat, "", tool, &format!("Error: flight {flight} is not available"));
        let text = format!("It seems that flight {flight} is not available. {}", reworded::apology(&mut run.rng));
        run.answer(&mut chat, &text);
    }
}

/// The provider sends the same answer again, with the same ids; the client runs it again.
fn same_stream_replayed(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    let (tool, text) = any_step(run, kit);
    let (id, name) = ("call_7f3a2c1b9e40".to_owned(), tool.name.clone());
    let answer = Answer { text: String::new(), calls: vec![Linked { id: id.clone(), tool }] };
    for lap in 0..LAPS {
        if lap == 1 {
            run.mark_stuck();
        }
        run.send(&chat, Some(&answer));
        chat.push_answer(&answer);
        chat.push_outcomes(&[Outcome { id: id.clone(), tool: name.clone(), text: text.clone(), is_error: false }]);
    }
}

/// The numbers go up and down around the same values; nothing moves on.
fn status_jitter(run: &mut Run) {
    let (_, mut chat) = begin(run);
    run.pace = 1_000..=4_000;
    let tool = Tool::new("get_metrics", json!({ "service": run.rng.pick(words::MODULES) }));
    for lap in 0..LAPS {
        if lap == 1 {
            run.mark_stuck();
        }
        let (cpu, memory) = (run.rng.range(380..=440), run.rng.range(505..=519));
        let result = format!("{{\"state\":\"waiting\",\"cpu\":{:.1},\"memory_mb\":{memory}}}", cpu as f64 / 10.0);
        run.act(&mut chat, "", tool.clone(), &result);
    }
}

/// Sixty calls of work, then stuck.
fn late_loop(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    while run.len() < 60 {
        let path = words::path(&mut run.rng);
        edit(run, &mut chat, kit, &path);
    }
    let (tool, result) = any_step(run, kit);
    for lap in 0..24 {
        if lap == 1 {
            run.mark_stuck();
        }
        let say = reworded::again(&mut run.rng, &tool.name);
        run.act(&mut chat, &say, tool.clone(), &result);
    }
}
