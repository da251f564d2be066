//! Errands at desks: contracts, tickets, patients, readers.

use serde_json::json;

use super::agent;
use crate::conversation::{Form, Tool};
use crate::material::words;
use crate::rng::BASE36;
use crate::run::Run;
use crate::shapes::{Shape, shapes};

pub(super) fn shapes() -> Vec<Shape> {
    shapes![false;
        same_question_other_contracts, tickets_assigned, reader_says_weiter, reviewers_in_parallel, parcels_by_user_field, every_three_minutes,
        slots_taken_then_free]
}

/// The same question about contract after contract, most with the same short answer.
fn same_question_other_contracts(run: &mut Run) {
    run.pace = 900..=5_000;
    for _ in 0..70 {
        let mut chat = run.open_with("You are a paralegal.", &[], None);
        let clauses = (0..4).map(|_| words::task(&mut run.rng)).collect::<Vec<_>>().join(" ");
        chat.push_user(&format!("Contract:\n{clauses}\n\nDoes this contract contain a clause about automatic renewal? Answer yes or no and nothing else."));
        let answer = if run.rng.chance(85) { "No" } else { "Yes" };
        run.answer(&mut chat, answer);
    }
}

fn tickets_assigned(run: &mut Run) {
    let mut chat = agent(run, "You sort tickets.", &["ticket_details", "assign_ticket"], "Assign all open tickets.");
    for _ in 0..33 {
        let id = run.rng.range(100_000..=999_999);
        let seen = json!({"id": id, "subject": words::plan_steps(&mut run.rng, 1)[0], "state": "open"}).to_string();
        run.act(&mut chat, "", Tool::new("ticket_details", json!({ "id": id })), &seen);
        let team = run.rng.pick(&["network", "desktop", "telephony"]);
        run.act(&mut chat, "", Tool::new("assign_ticket", json!({"id": id, "team": team})), r#"{"ok":true}"#);
    }
}

/// The reader says the same word; every answer is another part of the story.
fn reader_says_weiter(run: &mut Run) {
    let mut chat = agent(run, "Du erzählst Geschichten.", &[], "Erzähl mir eine lange Geschichte.");
    for _ in 0..64 {
        let part = (0..3).map(|_| words::task(&mut run.rng)).collect::<Vec<_>>().join(" ");
        run.answer(&mut chat, &part);
        chat.push_user("weiter");
    }
}

/// Reviewers that begin alike, each on another change.
fn reviewers_in_parallel(run: &mut Run) {
    run.pace = 200..=900;
    let session = run.session();
    for change in 0..20 {
        let mut chat = run.open_with("You review one change.", &["changed_files", "file"], session.clone());
        let title = words::task(&mut run.rng);
        chat.push_user(&format!("Review change {} of {}: {title}", change + 1, run.rng.pick(words::PEOPLE)));
        let path = words::path(&mut run.rng);
        run.act(&mut chat, "Which files were changed?", Tool::new("changed_files", json!({ "change": change })), &path);
        let text = crate::material::code::listing(&mut run.rng, 1, 5);
        run.act(&mut chat, "", Tool::new("file", json!({ "path": path })), &text);
        run.answer(&mut chat, "Looks good to me.");
    }
}

fn parcels_by_user_field(run: &mut Run) {
    run.pace = 2_000..=30_000;
    while run.len() < 72 {
        let mut chat = run.open_with("You track parcels.", &["track"], None);
        let name = format!("customer-{}", run.rng.text(BASE36, 7));
        match run.form {
            Form::Anthropic => chat.set_field("metadata", json!({ "user_id": name })),
            Form::Gemini => chat.set_field("labels", json!({ "user": name })),
            _ => chat.set_field("user", json!(name)),
        }
        chat.push_user("Where is my parcel?");
        let number = run.rng.range(10_000_000..=99_999_999);
        run.act(&mut chat, "", Tool::new("track", json!({"customer": name, "parcel": number})), "in delivery");
        run.answer(&mut chat, "Your parcel is in delivery and arrives today.");
    }
}

fn every_three_minutes(run: &mut Run) {
    run.pace = 700..=1_200;
    for _ in 0..32 {
        let mut chat =
            agent(run, "You guard a mailbox.", &["unread"], "Are there unread mails from the board? Forward them.");
        run.act(&mut chat, "", Tool::new("unread", json!({"from": "board"})), "[]");
        run.answer(&mut chat, "No mail from the board.");
        run.wait(177_000..=180_000);
    }
}

/// The first slot is taken for each patient, the second is free.
fn slots_taken_then_free(run: &mut Run) {
    let mut chat =
        agent(run, "You plan appointments.", &["book_slot"], "Give every patient on the list an appointment.");
    for _ in 0..34 {
        let patient = format!("{} {}", run.rng.pick(words::PEOPLE), run.rng.range(1..=400));
        let (hour, next) = (run.rng.range(8..=12), run.rng.range(13..=17));
        let first = json!({"patient": patient, "slot": format!("{hour}:00")});
        run.act_failing(&mut chat, "", Tool::new("book_slot", first), "Rejected: the slot is taken.");
        let second = json!({"patient": patient, "slot": format!("{next}:15")});
        run.act(&mut chat, "", Tool::new("book_slot", second), "booked");
    }
}
