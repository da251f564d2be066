//! Stuck browser agents whose page is rebuilt in every prompt.

use super::super::{Shape, shapes};
use crate::material::volatile::Volatile;
use crate::material::{reworded, words};
use crate::rng::Rng;
use crate::run::Run;

pub(super) fn shapes() -> Vec<Shape> {
    shapes![true;
        browser_same_click, browser_same_click_volatile_page, browser_two_pages, browser_refill_form, browser_no_history]
}

const BROWSER: &str = "You control a browser. Answer with one action: click('id'), fill('id', 'text'), scroll(0, y).";

/// What a browser agent sends and answers in one step.
struct Step<'a> {
    goal: &'a str,
    page: &'a str,
    action: &'a str,
}

fn page(rng: &mut Rng, title: &str) -> String {
    let rows: String =
        (0..9).map(|place| format!("[{}] link '{}'\n", 30 + place * 4, rng.pick(words::PRODUCTS))).collect();
    format!("RootWebArea '{title}'\n{rows}")
}

fn goal(run: &mut Run) -> String {
    format!("Find the cheapest {} that ships to {}.", run.rng.pick(words::PRODUCTS), run.rng.pick(words::CITIES))
}

/// One call; the past actions stand in the prompt if the agent keeps them.
fn browse(run: &mut Run, step: &Step<'_>, history: Option<&mut Vec<String>>) {
    let mut chat = run.open_with(BROWSER, &[], None);
    let past =
        history.as_ref().map_or_else(String::new, |history| format!("\n# Past actions\n{}\n", history.join("\n")));
    chat.push_user(&format!("# Goal\n{}\n\n# Page\n{}\n{past}\n# Next action", step.goal, step.page));
    let thought = reworded::again(&mut run.rng, "this element");
    run.answer(&mut chat, &format!("{thought}\n```\n{}\n```", step.action));
    history.into_iter().for_each(|history| history.push(step.action.to_owned()));
}

/// A few different steps on different pages first.
fn arrive(run: &mut Run, goal: &str, history: &mut Vec<String>) {
    for _ in 0..run.rng.count(2..=5) {
        let title = words::identifier(&mut run.rng);
        let shown = page(&mut run.rng, &title);
        let action = format!("click('{}')", run.rng.range(20..=400));
        browse(run, &Step { goal, page: &shown, action: &action }, Some(history));
    }
}

fn browser_same_click(run: &mut Run) {
    let (goal, mut history) = (goal(run), Vec::new());
    arrive(run, &goal, &mut history);
    let shown = page(&mut run.rng, "Checkout");
    let action = format!("click('{}')", run.rng.range(20..=400));
    for lap in 0..30 {
        if lap == 1 {
            run.mark_stuck();
        }
        browse(run, &Step { goal: &goal, page: &shown, action: &action }, Some(&mut history));
    }
}

/// The page shows a clock or a session id that differs every time.
fn browser_same_click_volatile_page(run: &mut Run) {
    let (goal, mut history) = (goal(run), Vec::new());
    arrive(run, &goal, &mut history);
    let shown = page(&mut run.rng, "Search");
    let kind = Volatile::any(&mut run.rng);
    for lap in 0..30 {
        if lap == 1 {
            run.mark_stuck();
        }
        let shown = format!("{shown}[99] text '{}'\n", kind.line(&mut run.rng, run.now));
        browse(run, &Step { goal: &goal, page: &shown, action: "click('42')" }, Some(&mut history));
    }
}

/// Back and forth between two pages.
fn browser_two_pages(run: &mut Run) {
    let (goal, mut history) = (goal(run), Vec::new());
    arrive(run, &goal, &mut history);
    let pages = [page(&mut run.rng, "Results"), page(&mut run.rng, "Product")];
    for lap in 0..18 {
        if lap == 1 {
            run.mark_stuck();
        }
        for (shown, action) in pages.iter().zip(["click('38')", "go_back()"]) {
            browse(run, &Step { goal: &goal, page: shown, action }, Some(&mut history));
        }
    }
}

/// A form that is emptied after every submit.
fn browser_refill_form(run: &mut Run) {
    let (goal, mut history) = (goal(run), Vec::new());
    arrive(run, &goal, &mut history);
    let person = run.rng.pick(words::PEOPLE);
    let empty = format!("{}[70] textbox ''\n[71] button 'Send'", page(&mut run.rng, "Contact"));
    let filled = empty.replace("''", &format!("'{person}'"));
    for lap in 0..16 {
        if lap == 1 {
            run.mark_stuck();
        }
        browse(
            run,
            &Step { goal: &goal, page: &empty, action: &format!("fill('70', '{person}')") },
            Some(&mut history),
        );
        browse(run, &Step { goal: &goal, page: &filled, action: "click('71')" }, Some(&mut history));
    }
}

/// The agent keeps no past actions: the same prompt, the same action.
fn browser_no_history(run: &mut Run) {
    let goal = goal(run);
    let shown = page(&mut run.rng, "Login");
    for lap in 0..30 {
        if lap == 1 {
            run.mark_stuck();
        }
        browse(run, &Step { goal: &goal, page: &shown, action: "click('34')" }, None);
    }
}
