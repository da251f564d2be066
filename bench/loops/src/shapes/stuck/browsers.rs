//! Stuck browser agents whose page is rebuilt in every prompt.

use super::super::browser::{Browser, Layout, page};
use super::super::{Shape, shapes};
use crate::material::volatile::Volatile;
use crate::material::{reworded, words};
use crate::run::Run;

pub(super) fn shapes() -> Vec<Shape> {
    shapes![true;
        browser_same_click, browser_same_click_volatile_page, browser_two_pages, browser_refill_form, browser_no_history,
        browser_same_scroll_end, browser_three_elements]
}

/// A few different steps on different pages first.
fn arrive(run: &mut Run) -> Browser {
    let mut browser = Browser::new(run);
    for _ in 0..run.rng.count(2..=5) {
        let title = words::identifier(&mut run.rng);
        let shown = page(&mut run.rng, &title);
        let (thought, id) = (words::remark(&mut run.rng), run.rng.range(20..=400));
        browser.step(run, &shown, &thought, &format!("click('{id}')"));
    }
    browser
}

/// One step with a thought in other words.
fn again(run: &mut Run, browser: &mut Browser, page: &str, action: &str) {
    let thought = reworded::again(&mut run.rng, "this element");
    browser.step(run, page, &thought, action);
}

fn browser_same_click(run: &mut Run) {
    let mut browser = arrive(run);
    let shown = page(&mut run.rng, "Checkout");
    let action = format!("click('{}')", run.rng.range(20..=400));
    for lap in 0..30 {
        if lap == 1 {
            run.mark_stuck();
        }
        again(run, &mut browser, &shown, &action);
    }
}

/// The page shows a clock or a session id that differs every time.
fn browser_same_click_volatile_page(run: &mut Run) {
    let mut browser = arrive(run);
    let shown = page(&mut run.rng, "Search");
    let kind = Volatile::any(&mut run.rng);
    for lap in 0..30 {
        if lap == 1 {
            run.mark_stuck();
        }
        let shown = format!("{shown}[99] text '{}'\n", kind.line(&mut run.rng, run.now));
        again(run, &mut browser, &shown, "click('42')");
    }
}

/// Back and forth between two pages.
fn browser_two_pages(run: &mut Run) {
    let mut browser = arrive(run);
    let pages = [page(&mut run.rng, "Results"), page(&mut run.rng, "Product")];
    for lap in 0..18 {
        if lap == 1 {
            run.mark_stuck();
        }
        for (shown, action) in pages.iter().zip(["click('38')", "go_back()"]) {
            again(run, &mut browser, shown, action);
        }
    }
}

/// A form that is emptied after every submit.
fn browser_refill_form(run: &mut Run) {
    let mut browser = arrive(run);
    let person = run.rng.pick(words::PEOPLE);
    let empty = format!("{}[70] textbox ''\n[71] button 'Send'", page(&mut run.rng, "Contact"));
    let filled = empty.replace("''", &format!("'{person}'"));
    for lap in 0..16 {
        if lap == 1 {
            run.mark_stuck();
        }
        again(run, &mut browser, &empty, &format!("fill('70', '{person}')"));
        again(run, &mut browser, &filled, "click('71')");
    }
}

/// The agent keeps no past actions: the same prompt, the same action.
fn browser_no_history(run: &mut Run) {
    let mut browser = Browser::with_layout(run, Layout::NoHistory);
    let shown = page(&mut run.rng, "Login");
    for lap in 0..30 {
        if lap == 1 {
            run.mark_stuck();
        }
        again(run, &mut browser, &shown, "click('34')");
    }
}

/// The end of the page is reached; the agent scrolls on.
fn browser_same_scroll_end(run: &mut Run) {
    let mut browser = arrive(run);
    let shown = page(&mut run.rng, "Feed");
    for lap in 0..30 {
        if lap == 1 {
            run.mark_stuck();
        }
        again(run, &mut browser, &shown, "scroll(0, 500)");
    }
}

/// Three elements in turn on a page that does not react.
fn browser_three_elements(run: &mut Run) {
    let mut browser = arrive(run);
    let shown = page(&mut run.rng, "Settings");
    for lap in 0..12 {
        if lap == 1 {
            run.mark_stuck();
        }
        for action in ["click('31')", "click('57')", "press('Enter')"] {
            again(run, &mut browser, &shown, action);
        }
    }
}
