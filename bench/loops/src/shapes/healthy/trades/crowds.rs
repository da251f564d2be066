//! Many people or inputs, and words that come back with them.

use serde_json::json;

use super::agent;
use crate::conversation::{Form, Tool};
use crate::material::reworded::spin;
use crate::material::volatile::uuid;
use crate::material::words;
use crate::rng::BASE36;
use crate::run::Run;
use crate::shapes::{Shape, shapes};

pub(super) fn shapes() -> Vec<Shape> {
    shapes![false;
        users_by_user_field, greetings_by_user_field, judge_over_inputs, titles_of_chats, customer_returns_to_order,
        every_five_minutes, every_two_minutes, overloaded_then_answered, briefs_for_subagents]
}

/// A visitor whom only the field for abuse reports tells from others.
fn visitor(run: &mut Run) -> crate::conversation::Conversation {
    let mut chat = run.open_with("You answer questions of tenants.", &[], None);
    let name = format!("u_{}", run.rng.text(BASE36, 10));
    match run.form {
        Form::Anthropic => chat.set_field("metadata", json!({ "user_id": name })),
        Form::Gemini => chat.set_field("labels", json!({ "user": name })),
        _ => chat.set_field("user", json!(name)),
    }
    chat
}

/// Everybody asks about the heating first and gets the same answer.
fn users_by_user_field(run: &mut Run) {
    run.pace = 3_000..=50_000;
    for _ in 0..70 {
        let mut chat = visitor(run);
        chat.push_user("How do I report that my heating does not work?");
        run.answer(&mut chat, "Please use the form on your tenant page; a technician comes within two working days.");
        if run.rng.chance(30) {
            chat.push_user(&format!(
                "I live in {}, flat {}. Is that covered?",
                run.rng.pick(words::CITIES),
                run.rng.range(1..=90)
            ));
            run.answer(&mut chat, "Yes, that building is covered.");
        }
    }
}

fn greetings_by_user_field(run: &mut Run) {
    run.pace = 2_000..=40_000;
    while run.len() < 70 {
        let mut chat = visitor(run);
        chat.push_user(run.rng.pick(&["Bonjour", "Bonjour !", "Salut", "bonsoir"]));
        run.answer(&mut chat, "Bonjour ! Que puis-je faire pour vous ?");
        let (noun, city) = (run.rng.pick(words::NOUNS), run.rng.pick(words::CITIES));
        chat.push_user(&format!("Où puis-je déposer mon {noun} à {city} ?"));
        run.answer(&mut chat, &format!("À l'accueil de {city}, tous les jours."));
    }
}

/// A harness asks the same long question about other inputs.
fn judge_over_inputs(run: &mut Run) {
    run.pace = 500..=4_000;
    let rubric = "You are a strict grader. Compare the answer of the student with the reference. Ignore spelling, order and \
        tone. Give no points for facts that are not in the reference. Answer with one word: correct or incorrect.";
    for _ in 0..80 {
        let (reference, answer) =
            (words::plan_steps(&mut run.rng, 1).join(""), words::plan_steps(&mut run.rng, 1).join(""));
        let mut chat = run.open_with("", &[], None);
        chat.push_user(&format!("{rubric}\n\nReference: {reference}\nStudent: {answer}"));
        let grade = if run.rng.chance(80) { "incorrect" } else { "correct" };
        run.answer(&mut chat, grade);
    }
}

/// A title for each conversation beside the work, often the same one.
fn titles_of_chats(run: &mut Run) {
    while run.len() < 66 {
        let mut chat = agent(run, "You help with spreadsheets.", &["sheet.write"], &words::task(&mut run.rng.clone()));
        words::task(&mut run.rng);
        let mut title = run.open_with("", &[], None);
        title.push_user(&format!(
            "Write a title of at most four words for this conversation:\n{}",
            words::task(&mut run.rng)
        ));
        run.answer(&mut title, "Spreadsheet help");
        let input = json!({"cell": format!("B{}", run.rng.range(1..=500)), "value": run.rng.range(1..=9_999)});
        run.act(&mut chat, "", Tool::new("sheet.write", input), "written");
    }
}

/// One customer who comes back to the same order again and again between other matters.
fn customer_returns_to_order(run: &mut Run) {
    let session = run.session();
    let mut chat = run.open_with("Sie beraten Kunden eines Möbelhauses.", &["bestellung", "artikel"], session);
    run.pace = 8_000..=60_000;
    while run.len() < 68 {
        let product = run.rng.pick(words::PRODUCTS);
        chat.push_user(&format!("Haben Sie auch einen {product} in {}?", run.rng.pick(words::CITIES)));
        let stock = format!("{} Stück", run.rng.range(1..=40));
        run.act(&mut chat, "", Tool::new("artikel", json!({ "suche": product })), &stock);
        run.answer(&mut chat, &format!("Ja, {product} ist da."));
        chat.push_user(&spin(
            &mut run.rng,
            "[Und wo|Wo|Noch einmal: wo] ist [denn|jetzt|nun] meine Bestellung [bitte|]?",
        ));
        let order = Tool::new("bestellung", json!({"nummer": "M-20771"}));
        run.act(&mut chat, "", order, r#"{"nummer":"M-20771","stand":"beim Spediteur","termin":"offen"}"#);
        run.answer(&mut chat, "Ihre Bestellung ist beim Spediteur, ein Termin steht noch nicht fest.");
    }
}

fn every_five_minutes(run: &mut Run) {
    run.pace = 1_000..=4_000;
    for _ in 0..31 {
        let mut chat =
            agent(run, "You keep an eye on the shop.", &["orders_waiting"], "Check the queue of waiting orders.");
        run.act(&mut chat, "", Tool::new("orders_waiting", json!({})), "0 orders are waiting.");
        run.answer(&mut chat, "Nothing is waiting.");
        run.wait(295_000..=303_000);
    }
}

fn every_two_minutes(run: &mut Run) {
    run.pace = 1_500..=1_800;
    for _ in 0..31 {
        let mut chat = agent(
            run,
            "You watch a greenhouse.",
            &["read_sensor"],
            "Read the sensor and open the windows above 30 degrees.",
        );
        run.act(&mut chat, "", Tool::new("read_sensor", json!({"id": "g1"})), "24 degrees, windows closed");
        run.answer(&mut chat, "It is cool enough, the windows stay closed.");
        run.wait(117_000..=118_000);
    }
}

/// The provider is overloaded half of the time; the client sends the same again.
fn overloaded_then_answered(run: &mut Run) {
    let mut chat = agent(run, "You write documentation.", &["write_page"], "Document every endpoint of the API.");
    while run.len() < 80 {
        for _ in 0..run.rng.count(0..=4) {
            run.send(&chat, None);
        }
        let input = json!({"page": uuid(&mut run.rng), "text": words::task(&mut run.rng)});
        run.act(&mut chat, "", Tool::new("write_page", input), "saved");
    }
}

/// Sub-agents in the session of their parent, all with one template and another part of the work.
fn briefs_for_subagents(run: &mut Run) {
    let session = run.session();
    for path in words::paths(&mut run.rng, 22) {
        let mut chat = run.open_with("You review one file and report.", &["read_file"], session.clone());
        chat.push_user(&format!("Review {path} for mistakes in the handling of money. Report findings only, no praise, and do not edit anything."));
        let text = crate::material::code::listing(&mut run.rng, 1, 6);
        run.act(&mut chat, "I read the file first.", Tool::new("read_file", json!({ "path": path })), &text);
        run.act(
            &mut chat,
            "And its tests.",
            Tool::new("read_file", json!({"path": format!("tests/{path}")})),
            "No such file",
        );
        run.answer(&mut chat, "No findings.");
    }
}
