//! Visitors and jobs that a client does not name, and items that are worked through one after the
//! other with the same words.

use serde_json::json;

use super::super::steps::{begin, edit, finish};
use super::super::{Shape, shapes};
use crate::conversation::Tool;
use crate::material::words;
use crate::run::Run;

pub(super) fn shapes() -> Vec<Shape> {
    shapes![false;
        nameless_visitors, nameless_survey, topics_of_short_messages, voice_commands, figures_of_cities,
        same_move_on_boards, checks_exit_pending]
}

const SERVICE: &str = "You are the assistant of an online shop. Answer shortly.";

/// Most visitors press the same button; some of them answer the question that follows.
fn nameless_visitors(run: &mut Run) {
    run.pace = 2_000..=25_000;
    while run.len() < 70 {
        let mut chat = run.open_with(SERVICE, &[], None);
        chat.push_user("How long does shipping take?");
        run.answer(&mut chat, "Three to five days. Which city is it for?");
        if run.rng.chance(50) {
            let city = run.rng.pick(words::CITIES);
            chat.push_user(city);
            let days = run.rng.range(2..=9);
            run.answer(&mut chat, &format!("To {city} it takes {days} days."));
        }
    }
}

/// Every caller is asked the same three questions.
fn nameless_survey(run: &mut Run) {
    run.pace = 4_000..=9_000;
    while run.len() < 72 {
        let mut chat = run.open_with("You run a survey on the phone.", &[], None);
        chat.push_user("Hello?");
        run.answer(&mut chat, "Good day. How satisfied are you with the buses, from one to ten?");
        chat.push_user(run.rng.pick(&["seven", "eight", "ten", "maybe five", "nine", "two"]));
        run.answer(&mut chat, "Thank you. Do you use them more than once a week?");
        chat.push_user(run.rng.pick(&["yes", "no", "yes I do", "sometimes"]));
        run.answer(&mut chat, "Thank you for your time. Goodbye.");
    }
}

/// A client asks for the topic of each message, and the messages are short.
fn topics_of_short_messages(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    while run.len() < 75 {
        let path = words::path(&mut run.rng);
        edit(run, &mut chat, kit, &path);
        let mut side = run.open_with("Say whether this message begins a new topic. Answer with JSON.", &[], None);
        side.push_user(run.rng.pick(&["ok", "continue", "looks good", "next one please"]));
        run.answer(&mut side, r#"{"isNewTopic": false, "title": null}"#);
    }
    finish(run, &mut chat);
}

/// The lights of a flat, over days.
fn voice_commands(run: &mut Run) {
    run.pace = 400..=900;
    while run.len() < 64 {
        let (said, is_on) = run.rng.pick(&[("lights out", false), ("lights on", true)]);
        let mut chat = run.open_with("You control the flat.", &["set_light"], None);
        chat.push_user(said);
        run.act(&mut chat, "", Tool::new("set_light", json!({"room": "all", "on": is_on})), r#"{"ok":true}"#);
        run.answer(&mut chat, "Done.");
        run.wait(300_000..=4_000_000);
    }
}

/// The same question about one city after the other, and each has another figure.
fn figures_of_cities(run: &mut Run) {
    let mut chat = run.open_with("You compare cities.", &["web_search"], None);
    chat.push_user("Compare all cities on the list and write a table in the end.");
    for (asked, unit) in [("rent per month", "EUR"), ("hotels in summer", "beds"), ("museums with guides", "guides")] {
        for city in run.rng.sample(words::CITIES, 21) {
            let query = json!({"query": format!("{city} {asked}")});
            let figure = run.rng.range(20..=2_000);
            let found = format!("{city}, {asked}: {figure} {unit} according to the office of statistics.");
            run.act(&mut chat, "", Tool::new("web_search", query), &found);
        }
    }
    run.answer(&mut chat, "The table is done.");
}

/// A game: the same move, another board.
fn same_move_on_boards(run: &mut Run) {
    let mut chat = run.open_with("You play 2048.", &["move"], None);
    chat.push_user("Play until you reach 2048.");
    let mut board = [0; 16];
    (board[0], board[1]) = (256, 128);
    while run.len() < 66 {
        for cell in board.iter_mut().skip(2) {
            if run.rng.chance(35) {
                *cell = run.rng.pick(&[0, 2, 4, 8, 16, 32]);
            }
        }
        let way = if run.rng.chance(85) { "left" } else { "down" };
        run.act(&mut chat, "", Tool::new("move", json!({"direction": way})), &json!({"board": board}).to_string());
    }
    run.answer(&mut chat, "No move is left.");
}

/// Checks that exit with a failure until all of them have ended, after each of several edits.
fn checks_exit_pending(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    let jobs = ["unit", "lint", "e2e", "docs"];
    while run.len() < 64 {
        let path = words::path(&mut run.rng);
        edit(run, &mut chat, kit, &path);
        let mut passed = 0;
        while passed < jobs.len() {
            run.wait(10_000..=32_000);
            let state = |place| if place < passed { "pass" } else { "pending" };
            let rows = jobs.iter().enumerate().map(|(place, job)| format!("{job}\t{}", state(place)));
            let printed = rows.collect::<Vec<_>>().join("\n");
            let result = kit.output(&mut run.rng, &printed, 8);
            run.act_failing(&mut chat, "", kit.shell("gh pr checks 77"), &result);
            passed += usize::from(run.rng.chance(30));
        }
    }
    finish(run, &mut chat);
}
