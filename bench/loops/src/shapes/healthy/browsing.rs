//! Browser agents, whose page is written into every prompt.

use serde_json::json;

use super::super::steps::{begin, finish};
use super::super::{Shape, shapes};
use crate::conversation::Tool;
use crate::material::words;
use crate::rng::Rng;
use crate::run::Run;

pub(super) fn shapes() -> Vec<Shape> {
    shapes![false; browser_page_in_prompt, browser_same_click_new_page, browser_scroll_tool]
}

pub(super) const BROWSER: &str =
    "You control a browser. Answer with one action: click('id'), fill('id', 'text'), scroll(0, y).";

/// A page as an accessibility tree: elements with ids, some of them words of the page's topic.
pub(super) fn page(rng: &mut Rng, title: &str, rows: usize) -> String {
    let start = rng.range(20..=400);
    let row = |place: usize, rng: &mut Rng| {
        format!("[{}] link '{} {}'\n", start + place as i64 * 3, rng.pick(words::ADJECTIVES), rng.pick(words::PRODUCTS))
    };
    let rows: String = (0..rows).map(|place| row(place, rng)).collect();
    format!("RootWebArea '{title}'\n{rows}")
}

/// One call of a browser agent: goal, page and the actions so far in one message.
pub(super) fn browse(run: &mut Run, goal: &str, page: &str, history: &mut Vec<String>, action: &str) {
    let mut chat = run.open_with(BROWSER, &[], None);
    let past = history.join("\n");
    chat.push_user(&format!("# Goal\n{goal}\n\n# Page\n{page}\n\n# Past actions\n{past}\n\n# Next action"));
    let thought = words::remark(&mut run.rng);
    run.answer(&mut chat, &format!("{thought}\n```\n{action}\n```"));
    history.push(action.to_owned());
}

fn browser_page_in_prompt(run: &mut Run) {
    while run.len() < 62 {
        let goal = format!("Order a {} to {}.", run.rng.pick(words::PRODUCTS), run.rng.pick(words::CITIES));
        let mut history = Vec::new();
        for _ in 0..run.rng.count(8..=12) {
            let title = words::identifier(&mut run.rng);
            let shown = page(&mut run.rng, &title, 9);
            let action = match run.rng.below(3) {
                0 => format!("fill('{}', '{}')", run.rng.range(20..=400), run.rng.pick(words::PEOPLE)),
                _ => format!("click('{}')", run.rng.range(20..=400)),
            };
            browse(run, &goal, &shown, &mut history, &action);
        }
    }
}

/// The button for the next page has the same id on every page.
fn browser_same_click_new_page(run: &mut Run) {
    let goal = format!("List all sellers of a {}.", run.rng.pick(words::PRODUCTS));
    let action = run.rng.pick(&["click('88')", "scroll(0, 600)", "press('PageDown')"]);
    let mut history = Vec::new();
    for number in 1..=62 {
        let shown = page(&mut run.rng, &format!("Results, page {number}"), 10);
        browse(run, &goal, &shown, &mut history, action);
    }
}

fn browser_scroll_tool(run: &mut Run) {
    let (_, mut chat) = begin(run);
    let name = run.rng.pick(&["browser_action", "mcp__playwright__browser_press_key", "scroll_page"]);
    for _ in 0..62 {
        let shown = page(&mut run.rng, "Feed", 6);
        run.act(&mut chat, "", Tool::new(name, json!({"action": "scroll_down"})), &shown);
    }
    finish(run, &mut chat);
}
