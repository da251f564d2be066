//! axe finds no problem on any page, in both themes and at every width. `scripts/axe` downloads it.

use std::process::Command;

use serde_json::Value;

use crate::appearance::looks::paths;
use crate::driver::{Browser, Kind};
use crate::scene;

/// The rules of WCAG 2.2 A and AA, and the best practices that we treat as rules.
const RUN: &str = "return axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })\
    .then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.slice(0, 4).map(({ html }) => `${id}: ${html.slice(0, 160)}`)))";

/// An agent with many calls.
const BUSY: &str = "busy";

fn axe() -> String {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/axe");
    let ran = Command::new(script).output().expect("scripts/axe runs");
    assert!(ran.status.success(), "scripts/axe: {}", String::from_utf8_lossy(&ran.stderr));
    std::fs::read_to_string(String::from_utf8(ran.stdout).unwrap().trim()).unwrap()
}

#[tokio::test]
async fn axe_finds_nothing_on_any_page() {
    let (axe, scene) = (axe(), scene::start().await);
    // So many that the bars of the what-if scroll on a phone.
    for _ in 0..24 {
        scene.server.agent(BUSY).ask("Read the price of the garden chair.").await;
    }
    let mut found = Vec::new();
    for kind in [Kind::LARGE, Kind::DESKTOP, Kind::TABLET, Kind::PHONE] {
        let browser = Browser::logged_in(&scene.server, kind).await;
        let mut paths = paths(&scene.server).await;
        paths.extend(["/wall".to_owned(), "/drill".to_owned(), "/login".to_owned(), "/search?text=import".to_owned()]);
        paths.push(format!("/agents/{BUSY}"));
        for path in paths {
            browser.go(&path).await;
            browser.run(&axe).await;
            for theme in ["light", "dark"] {
                browser.run(&format!("document.documentElement.dataset.theme = '{theme}'")).await;
                let problems: Value = browser.run(RUN).await;
                let problems = problems.as_array().unwrap().iter().map(|problem| problem.as_str().unwrap());
                found.extend(problems.map(|problem| format!("{path} at {} px, {theme}: {problem}", kind.width)));
            }
        }
    }
    assert!(found.is_empty(), "{} problems:\n{}", found.len(), found.join("\n"));
}
