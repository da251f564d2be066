//! Browser agents that get somewhere.

use serde_json::json;

use super::super::browser::{Browser, page};
use super::super::steps::{begin, finish};
use super::super::{Shape, shapes};
use crate::conversation::Tool;
use crate::material::words;
use crate::run::Run;

pub(super) fn shapes() -> Vec<Shape> {
    shapes![false; browser_page_in_prompt, browser_same_click_new_page, browser_form, browser_scroll_tool]
}

/// Other pages, other actions; a new goal now and then.
fn browser_page_in_prompt(run: &mut Run) {
    while run.len() < 62 {
        let mut browser = Browser::new(run);
        for _ in 0..run.rng.count(8..=14) {
            let title = words::identifier(&mut run.rng);
            let shown = page(&mut run.rng, &title);
            let thought = words::remark(&mut run.rng);
            let action = match run.rng.below(3) {
                0 => format!("fill('{}', '{}')", run.rng.range(20..=400), run.rng.pick(words::PEOPLE)),
                _ => format!("click('{}')", run.rng.range(20..=400)),
            };
            browser.step(run, &shown, &thought, &action);
        }
    }
}

/// The button for the next page has the same id on every page.
fn browser_same_click_new_page(run: &mut Run) {
    let mut browser = Browser::new(run);
    let action = run.rng.pick(&["click('88')", "scroll(0, 600)", "press('PageDown')"]);
    for number in 1..=62 {
        let shown = page(&mut run.rng, &format!("Results, page {number}"));
        let thought = words::remark(&mut run.rng);
        browser.step(run, &shown, &thought, action);
    }
}

/// One long form: the page stays, its fields fill up one after the other.
fn browser_form(run: &mut Run) {
    while run.len() < 62 {
        let mut browser = Browser::new(run);
        let title = words::identifier(&mut run.rng);
        let mut shown = page(&mut run.rng, &title);
        for field in 0..run.rng.count(9..=13) {
            let (id, value) =
                (500 + field * 2, format!("{} {}", run.rng.pick(words::PEOPLE), run.rng.pick(words::CITIES)));
            browser.step(run, &shown, "The next field is empty.", &format!("fill('{id}', '{value}')"));
            shown += &format!("[{id}] textbox '{value}'\n");
        }
        browser.step(run, &shown, "All fields are filled.", "click('600')");
    }
}

fn browser_scroll_tool(run: &mut Run) {
    let (_, mut chat) = begin(run);
    let name = run.rng.pick(&["browser_action", "mcp__playwright__browser_press_key", "scroll_page"]);
    for _ in 0..62 {
        let shown = page(&mut run.rng, "Feed");
        run.act(&mut chat, "", Tool::new(name, json!({"action": "scroll_down"})), &shown);
    }
    finish(run, &mut chat);
}
