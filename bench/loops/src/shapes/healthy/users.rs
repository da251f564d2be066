//! People who say the same: many users of one agent, and users who ask again while the work goes
//! on.

use serde_json::json;

use super::super::steps::{begin, edit, finish, shell};
use super::super::{Shape, shapes};
use crate::conversation::{Conversation, Tool};
use crate::material::outputs::Runner;
use crate::material::words;
use crate::run::Run;

pub(super) fn shapes() -> Vec<Shape> {
    shapes![false;
        faq_button, greetings, same_first_words, side_calls, user_says_continue, user_asks_for_tests_again,
        customer_asks_again, user_interrupts_results, regenerate_now_and_then, harness_repeats_task]
}

const SERVICE: &str = "You are the assistant of an online shop. Answer shortly and look things up with the tools.";
const SERVICE_TOOLS: &[&str] = &["get_order", "get_user", "search_products"];

fn visitor(run: &mut Run) -> Conversation {
    let session = run.session();
    run.open_with(SERVICE, SERVICE_TOOLS, session)
}

/// Every visitor presses the same button first and gets the same answer.
fn faq_button(run: &mut Run) {
    let question = run.rng.pick(&["What is your return policy?", "How long does shipping take?", "Where is my order?"]);
    let answer =
        format!("{question} Good question! Parcels arrive within three days, and you may return them for thirty.");
    run.pace = 4_000..=90_000;
    while run.len() < 64 {
        let mut chat = visitor(run);
        chat.push_user(question);
        run.answer(&mut chat, &answer);
        if run.rng.chance(25) {
            chat.push_user(&format!("And the {} from {}?", run.rng.pick(words::PRODUCTS), run.rng.pick(words::CITIES)));
            run.answer(&mut chat, "Those ship from the warehouse tomorrow.");
        }
    }
}

fn greetings(run: &mut Run) {
    run.pace = 3_000..=60_000;
    while run.len() < 66 {
        let mut chat = visitor(run);
        chat.push_user(run.rng.pick(&["hi", "hello", "Hi!", "hey there"]));
        run.answer(&mut chat, "Hello! How can I help you today?");
        if run.rng.chance(50) {
            product_question(run, &mut chat);
        }
    }
}

fn product_question(run: &mut Run, chat: &mut Conversation) {
    let (product, city) = (run.rng.pick(words::PRODUCTS), run.rng.pick(words::CITIES));
    chat.push_user(&format!("Do you have a {product} in {city}?"));
    run.act(chat, "", Tool::new("search_products", json!({"query": product, "city": city})), "3 in stock");
    run.answer(chat, &format!("Yes, the {product} is in stock in {city}."));
}

/// The same opening, then everybody goes a way of their own.
fn same_first_words(run: &mut Run) {
    let first = "I have a question about my order.";
    run.pace = 2_000..=20_000;
    while run.len() < 80 {
        let mut chat = visitor(run);
        chat.push_user(first);
        run.answer(&mut chat, "Of course. What is the number of your order?");
        let order = run.rng.range(10_000..=99_999);
        chat.push_user(&format!("It is {order}."));
        let result =
            format!("{{\"order\": {order}, \"item\": \"{}\", \"state\": \"sent\"}}", run.rng.pick(words::PRODUCTS));
        run.act(&mut chat, "", Tool::new("get_order", json!({ "id": order })), &result);
        let city = run.rng.pick(words::CITIES);
        run.answer(&mut chat, &format!("Order {order} is on its way to {city}."));
    }
}

/// Titles, memory and summaries that a client asks for beside the work, answered alike.
fn side_calls(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    while run.len() < 75 {
        let path = words::path(&mut run.rng);
        (0..2).for_each(|_| edit(run, &mut chat, kit, &path));
        let mut side = run.open_with("Analyse whether this message begins a new topic. Answer with JSON.", &[], None);
        side.push_user(&words::task(&mut run.rng));
        run.answer(&mut side, r#"{"isNewTopic": false, "title": null}"#);
        if run.rng.chance(50) {
            let mut memory =
                run.open_with("Extract facts worth remembering. Answer NONE if there are none.", &[], None);
            memory.push_user(&format!("Conversation so far: {}", words::plan_steps(&mut run.rng, 3).join(". ")));
            run.answer(&mut memory, "NONE");
        }
    }
    finish(run, &mut chat);
}

/// A person or a harness says the same short words after every turn, and every turn does something
/// new.
fn user_says_continue(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    let words_said = run.rng.pick(&["continue", "go on", "next", "Please proceed with the next item.", "yes"]);
    while run.len() < 66 {
        chat.push_user(words_said);
        let path = words::path(&mut run.rng);
        (0..run.rng.count(1..=3)).for_each(|_| edit(run, &mut chat, kit, &path));
        finish(run, &mut chat);
    }
}

fn user_asks_for_tests_again(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    let runner = run.rng.pick(&Runner::ALL);
    let command = runner.command(&mut run.rng);
    let mut failed: usize = 18;
    while run.len() < 66 {
        let path = words::path(&mut run.rng);
        (0..run.rng.count(1..=2)).for_each(|_| edit(run, &mut chat, kit, &path));
        finish(run, &mut chat);
        chat.push_user("Run the tests again, please.");
        failed = failed.saturating_sub(run.rng.count(0..=1));
        let summary = runner.summary(&mut run.rng, failed, 60);
        shell(run, &mut chat, kit, (&command, &summary, u8::from(failed > 0)));
        run.answer(&mut chat, &format!("{failed} tests fail now."));
        chat.push_user(&words::task(&mut run.rng));
    }
}

/// A customer who asks for the same lookup several times in a long talk about other things.
fn customer_asks_again(run: &mut Run) {
    let session = run.session();
    let mut chat = run.open_with(SERVICE, SERVICE_TOOLS, session);
    let order = run.rng.range(10_000..=99_999);
    while run.len() < 64 {
        chat.push_user(&format!("Can you look at order {order} again, please?"));
        let result = format!("{{\"order\": {order}, \"state\": \"packed\"}}");
        run.act(&mut chat, "", Tool::new("get_order", json!({ "id": order })), &result);
        run.answer(&mut chat, &format!("Order {order} is packed. Anything else?"));
        (0..run.rng.count(2..=3)).for_each(|_| product_question(run, &mut chat));
    }
}

/// The user writes while a tool runs: the message stands behind the result.
fn user_interrupts_results(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    let said = run.rng.pick(&["looks good", "ok, keep going", "please be careful with the names"]);
    while run.len() < 64 {
        let path = words::path(&mut run.rng);
        let step = (kit.read(&path), crate::material::code::listing(&mut run.rng, 1, 6));
        let say = words::remark(&mut run.rng);
        run.act_interrupted(&mut chat, &say, step, said);
        edit(run, &mut chat, kit, &path);
    }
    finish(run, &mut chat);
}

/// A chat in which the user asks for another answer two or three times now and then.
fn regenerate_now_and_then(run: &mut Run) {
    let session = run.session();
    let mut chat = run.open_with("You write short texts.", &[], session);
    run.pace = 8_000..=40_000;
    while run.len() < 64 {
        chat.push_user(&format!(
            "Write a slogan for a {} shop in {}.",
            run.rng.pick(words::PRODUCTS),
            run.rng.pick(words::CITIES)
        ));
        for _ in 0..run.rng.count(0..=2) {
            let mut other = chat.clone();
            let text = words::remark(&mut run.rng) + &words::task(&mut run.rng);
            run.answer(&mut other, &text);
        }
        let text = words::task(&mut run.rng);
        run.answer(&mut chat, &text);
    }
}

/// The harness puts the whole task behind every result, as some do.
fn harness_repeats_task(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    let task = words::task(&mut run.rng);
    while run.len() < 64 {
        let path = words::path(&mut run.rng);
        let (old, new) = (crate::material::code::line(&mut run.rng), crate::material::code::line(&mut run.rng));
        let step = (kit.edit(&path, &old, &new), kit.edited(&path));
        let say = words::remark(&mut run.rng);
        run.act_interrupted(&mut chat, &say, step, &task);
    }
    finish(run, &mut chat);
}
