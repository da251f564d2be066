//! The same call with other results: streams, games, instruments.

use serde_json::json;

use super::agent;
use crate::conversation::Tool;
use crate::material::words;
use crate::run::Run;
use crate::shapes::{Shape, shapes};

pub(super) fn shapes() -> Vec<Shape> {
    shapes![false; queue_of_readings, cursor_of_rows, cards_drawn, empty_searches_then_hits]
}

fn queue_of_readings(run: &mut Run) {
    let mut chat = agent(run, "You read instruments.", &["receive"], "Read 70 samples and look for outliers.");
    run.pace = 400..=1_500;
    for _ in 0..70 {
        let seen = format!(
            r#"{{"kelvin":{}.{},"bar":{}}}"#,
            run.rng.range(270..=330),
            run.rng.range(0..=9),
            run.rng.range(1..=90)
        );
        run.act(&mut chat, "", Tool::new("receive", json!({})), &seen);
    }
}

fn cursor_of_rows(run: &mut Run) {
    let mut chat =
        agent(run, "Du wertest Umfragen aus.", &["naechste_zeilen"], "Lies alle Antworten und fasse sie zusammen.");
    for _ in 0..64 {
        let rows: Vec<String> =
            (0..4).map(|_| format!("{};{}", run.rng.pick(words::PEOPLE), run.rng.pick(words::CITIES))).collect();
        run.act(&mut chat, "", Tool::new("naechste_zeilen", json!({"anzahl": 4})), &rows.join("\n"));
    }
}

fn cards_drawn(run: &mut Run) {
    let mut chat =
        agent(run, "You play patience.", &["draw_card", "place_card"], "Play until the game is won or lost.");
    for _ in 0..34 {
        let card = format!("{} of {}", run.rng.range(1..=13), run.rng.pick(&["hearts", "spades", "clubs", "diamonds"]));
        run.act(&mut chat, "", Tool::new("draw_card", json!({})), &card);
        let pile = run.rng.range(1..=7);
        run.act(&mut chat, "", Tool::new("place_card", json!({"card": card, "pile": pile})), "placed");
    }
}

/// Two or three searches find nothing, the next does, and its page is read.
fn empty_searches_then_hits(run: &mut Run) {
    let mut chat =
        agent(run, "You do literature research.", &["search_papers", "read_paper"], "Collect sources for the survey.");
    while run.len() < 66 {
        for _ in 0..run.rng.count(2..=3) {
            let query = format!("{} {}", run.rng.pick(words::ADJECTIVES), run.rng.pick(words::NOUNS));
            run.act(&mut chat, "", Tool::new("search_papers", json!({ "q": query })), r#"{"hits":[]}"#);
        }
        let title = words::task(&mut run.rng);
        let query = json!({"q": run.rng.pick(words::MODULES)});
        run.act(&mut chat, "", Tool::new("search_papers", query), &json!({"hits": [{"title": title}]}).to_string());
        let text = (0..3).map(|_| words::task(&mut run.rng)).collect::<Vec<_>>().join(" ");
        run.act(&mut chat, "", Tool::new("read_paper", json!({ "title": title })), &text);
    }
}
