//! Errands with machines: builds, printers, chains, boards, browsers.

use serde_json::json;

use super::agent;
use crate::conversation::Tool;
use crate::material::reworded::spin;
use crate::material::{code, words};
use crate::rng::{BASE36, HEX};
use crate::run::Run;
use crate::shapes::browser::page;
use crate::shapes::{Shape, shapes};

pub(super) fn shapes() -> Vec<Shape> {
    shapes![false;
        chart_values_dry_run, confirmations_rise, printer_waits_for_paper, scanned_pages_read, push_refused_then_merged, moves_on_a_board,
        fenced_json_on_new_pages, warnings_stay_the_same]
}

fn chart_values_dry_run(run: &mut Run) {
    let mut chat = agent(run, "You package services.", &["Edit", "Bash"], "Move all limits into values.yaml.");
    while run.len() < 64 {
        for _ in 0..run.rng.count(1..=2) {
            let key = words::identifier(&mut run.rng);
            let input = json!({"file_path": "chart/values.yaml", "old_string": format!("{key}: ~"), "new_string": format!("{key}: {}", run.rng.range(1..=900))});
            run.act(&mut chat, "", Tool::new("Edit", input), "The file chart/values.yaml has been updated.");
        }
        let check = json!({"command": "helm lint chart | tail -1"});
        run.act(&mut chat, "", Tool::new("Bash", check), "1 chart(s) linted, 0 chart(s) failed");
    }
}

fn confirmations_rise(run: &mut Run) {
    let mut chat =
        agent(run, "You settle payments.", &["tx_confirmations"], "Release the goods after 60 confirmations.");
    run.pace = 9_000..=14_000;
    let mut count = 0;
    for _ in 0..66 {
        count += i64::from(run.rng.chance(75));
        let seen = format!(r#"{{"hash":"0x9f1c","confirmations":{count},"block":{}}}"#, 884_120 + count);
        run.act(&mut chat, "", Tool::new("tx_confirmations", json!({"hash": "0x9f1c"})), &seen);
    }
}

fn printer_waits_for_paper(run: &mut Run) {
    let mut chat = agent(run, "Du betreust Drucker.", &["drucker_zustand", "drucke"], "Drucke die Aushänge aus.");
    while run.len() < 66 {
        let title = words::plan_steps(&mut run.rng, 1).join("");
        run.act(&mut chat, "", Tool::new("drucke", json!({ "titel": title })), "in der Warteschlange");
        for _ in 0..12 {
            run.wait(22_000..=35_000);
            run.act(&mut chat, "", Tool::new("drucker_zustand", json!({})), "Papierstau in Fach 2");
        }
        run.act(&mut chat, "", Tool::new("drucker_zustand", json!({})), "bereit");
    }
}

fn scanned_pages_read(run: &mut Run) {
    let mut chat = agent(run, "You transcribe scans.", &["ocr"], "Transcribe the scanned minutes.");
    for number in 1..=66 {
        let name = format!("/tmp/scan-{}/page-{number:02}.png", run.rng.text(BASE36, 6));
        let text = if run.rng.chance(20) { "(blank page)".to_owned() } else { words::task(&mut run.rng) };
        run.act(&mut chat, "", Tool::new("ocr", json!({ "image": name })), &text);
    }
}

fn push_refused_then_merged(run: &mut Run) {
    let mut chat = agent(run, "You backport fixes.", &["terminal"], "Backport the fix to all supported branches.");
    for _ in 0..18 {
        let branch = format!("release/{}.{}", run.rng.range(2..=90), run.rng.range(0..=40));
        let pick = format!("git checkout {branch} && git cherry-pick {}", run.rng.text(HEX, 9));
        run.act(&mut chat, "", Tool::new("terminal", json!({ "command": pick })), "1 file changed");
        let push = Tool::new("terminal", json!({"command": "git push"}));
        run.act_failing(&mut chat, "", push.clone(), "! [rejected] (fetch first)\nerror: failed to push some refs");
        run.act(
            &mut chat,
            "",
            Tool::new("terminal", json!({"command": "git pull --rebase"})),
            &format!("Successfully rebased and updated refs/heads/{branch}."),
        );
        run.act(&mut chat, "", push, &format!("{branch} -> {branch}"));
    }
}

fn moves_on_a_board(run: &mut Run) {
    let mut chat = agent(run, "You play chess.", &["make_move"], "Play to the end of the game.");
    for _ in 0..64 {
        let square = |run: &mut Run| {
            format!("{}{}", run.rng.pick(&["a", "b", "c", "d", "e", "f", "g", "h"]), run.rng.range(1..=8))
        };
        let (from, to, reply) = (square(run), square(run), square(run));
        let seen = format!("ok, opponent plays {reply}{}", square(run));
        run.act(&mut chat, "", Tool::new("make_move", json!({"move": format!("{from}{to}")})), &seen);
    }
}

fn fenced_json_on_new_pages(run: &mut Run) {
    while run.len() < 64 {
        let mut past: Vec<String> = Vec::new();
        let goal = format!("Collect the phone numbers of the libraries in {}.", run.rng.pick(words::CITIES));
        for _ in 0..run.rng.count(9..=14) {
            let title = words::identifier(&mut run.rng);
            let mut chat = run.open_with("You act on web pages.", &[], None);
            chat.push_user(&format!(
                "## Goal\n{goal}\n\n## Current page\n{}\n\n## Previous actions\n{}",
                page(&mut run.rng, &title),
                past.join("\n")
            ));
            let action =
                json!({"action_type": run.rng.pick(&["CLICK", "SCROLL", "COPY"]), "element_id": run.rng.range(1..=30)})
                    .to_string();
            run.answer(&mut chat, &format!("{}\n```json\n{action}\n```", words::remark(&mut run.rng.clone())));
            past.push(action);
        }
    }
}

/// Fix after fix, and the linter still counts the same.
fn warnings_stay_the_same(run: &mut Run) {
    let mut chat =
        agent(run, "You modernise code.", &["patch_file", "lint", "read_notes"], "Get rid of the deprecated calls.");
    while run.len() < 70 {
        let input = json!({"path": words::path(&mut run.rng), "patch": code::lines(&mut run.rng, 2)});
        let say = spin(&mut run.rng, "[Next call.|This one, too.|And here.|]");
        run.act(&mut chat, &say, Tool::new("patch_file", input), "patched");
        run.act(&mut chat, "", Tool::new("lint", json!({})), "41 warnings");
        if run.rng.chance(30) {
            run.act(
                &mut chat,
                "",
                Tool::new("read_notes", json!({})),
                "Replace `legacy_fetch` by `fetch`. Keep the tests.",
            );
        }
    }
}
