//! Something is changed, then looked at; the look gives the same for a long time.

use serde_json::json;

use super::agent;
use crate::conversation::Tool;
use crate::material::reworded::spin;
use crate::material::{code, words};
use crate::run::Run;
use crate::shapes::{Shape, shapes};

pub(super) fn shapes() -> Vec<Shape> {
    shapes![false;
        terraform_plan_after_edits, stylesheet_screenshots, latex_fifteen_fixes, sql_refused_then_right, board_looked_at,
        notebook_cells, slides_with_preview]
}

/// The plan names the same totals after every edit of the configuration.
fn terraform_plan_after_edits(run: &mut Run) {
    let task = "Split the network module and keep the plan free of replacements.";
    let mut chat = agent(run, "You maintain infrastructure as code.", &["edit_file", "terraform"], task);
    while run.len() < 70 {
        for _ in 0..run.rng.count(1..=3) {
            let (noun, value) = (run.rng.pick(words::NOUNS), run.rng.range(1..=9_000));
            let input = json!({"path": format!("modules/{noun}/main.tf"), "old": format!("{noun} = null"),
                "new": format!("{noun} = {value}")});
            let say = words::remark(&mut run.rng);
            run.act(&mut chat, &say, Tool::new("edit_file", input), "1 replacement made");
        }
        let plan = "Plan: 4 to add, 2 to change, 0 to destroy.";
        run.act(&mut chat, "", Tool::new("terraform", json!({"args": ["plan", "-no-color"]})), plan);
    }
}

/// A screenshot after every change of a style; the tool says only where the picture is.
fn stylesheet_screenshots(run: &mut Run) {
    let task = "Rends la page d'accueil plus lisible, un réglage après l'autre.";
    let mut chat = agent(run, "Tu es un assistant de design web.", &["set_css", "capture_ecran"], task);
    while run.len() < 66 {
        let (selector, size) = (run.rng.pick(words::MODULES), run.rng.range(8..=64));
        let property = run.rng.pick(&["padding", "margin", "font-size", "gap", "line-height"]);
        let input = json!({"selector": format!(".{selector}"), "property": property, "value": format!("{size}px")});
        run.act(&mut chat, "Je change l'espacement.", Tool::new("set_css", input), "style appliqué");
        run.act(&mut chat, "Je regarde.", Tool::new("capture_ecran", json!({})), "capture enregistrée: page.png");
    }
}

/// The document does not compile for fifteen different corrections.
fn latex_fifteen_fixes(run: &mut Run) {
    let task = "The thesis no longer compiles with the new class. Repair it.";
    let mut chat = agent(run, "You typeset documents.", &["replace_in_document", "compile"], task);
    while run.len() < 64 {
        let command = words::identifier(&mut run.rng);
        for _ in 0..15 {
            let input = json!({"file": format!("chapters/{}.tex", run.rng.pick(words::MODULES)),
                "find": code::line(&mut run.rng), "replace": code::line(&mut run.rng)});
            run.act(&mut chat, "", Tool::new("replace_in_document", input), "done, 1 occurrence");
            let log = format!("! Undefined control sequence.\nl.212 \\{command}\n?\n! Emergency stop.");
            run.act(&mut chat, "", Tool::new("compile", json!({"engine": "lualatex"})), &log);
        }
    }
}

/// Each table refuses the first statement and takes the second.
fn sql_refused_then_right(run: &mut Run) {
    let task = "Add the audit columns to every table of the warehouse.";
    let mut chat = agent(run, "You are a database administrator.", &["execute_sql"], task);
    for step in 0..34 {
        let table = format!("{}_{}", run.rng.pick(words::MODULES), step);
        let first = json!({"sql": format!("alter table {table} add column audited_at timestamptz not null")});
        let refusal = "ERROR: column \"audited_at\" of relation contains null values";
        run.act_failing(&mut chat, "", Tool::new("execute_sql", first), refusal);
        let second = json!({"sql": format!("alter table {table} add column audited_at timestamptz default now()")});
        run.act(&mut chat, "With a default, then.", Tool::new("execute_sql", second), "ALTER TABLE");
    }
}

/// The board is listed after each new card; the listing shows the columns only.
fn board_looked_at(run: &mut Run) {
    let task = "Lege für jede offene Aufgabe aus dem Protokoll eine Karte an.";
    let mut chat = agent(run, "Du organisierst Projekte.", &["create_card", "list_board"], task);
    while run.len() < 64 {
        let title = words::plan_steps(&mut run.rng, 1).join("");
        run.act(&mut chat, "", Tool::new("create_card", json!({ "title": title })), "Karte angelegt.");
        let board = r#"{"columns":["Backlog","In Arbeit","Fertig"],"members":4}"#;
        run.act(&mut chat, "", Tool::new("list_board", json!({"board": "sprint"})), board);
    }
}

/// Another cell each time; the kernel says the same of all of them.
fn notebook_cells(run: &mut Run) {
    let task = "Explore the churn data in the notebook and plot what matters.";
    let mut chat = agent(run, "You work in a notebook.", &["insert_cell", "run_all_cells"], task);
    while run.len() < 70 {
        for _ in 0..run.rng.count(1..=2) {
            let source = code::lines(&mut run.rng, 3);
            run.act(&mut chat, "", Tool::new("insert_cell", json!({ "source": source })), "cell inserted");
        }
        let say = spin(&mut run.rng, "[Run it.|Now everything again.|Let me see.|]");
        run.act(&mut chat, &say, Tool::new("run_all_cells", json!({})), "All cells executed without errors.");
    }
}

/// Text after text is put onto slides, with the same preview in between.
fn slides_with_preview(run: &mut Run) {
    let task = "Turn the report into slides, one section each.";
    let mut chat = agent(run, "You make presentations.", &["slides.update_text", "slides.preview"], task);
    for slide in 1..=33 {
        let text = words::plan_steps(&mut run.rng, 3).join(". ");
        let input = json!({"slide": slide % 12, "text": text});
        run.act(&mut chat, "", Tool::new("slides.update_text", input), r#"{"status":"ok"}"#);
        run.act(&mut chat, "", Tool::new("slides.preview", json!({"deck": "q3"})), r#"{"preview":"rendered"}"#);
    }
}
