//! Nothing is pushed out of view, whatever an agent is called and however wide the window is.

use serde_json::{Value, json};

use crate::driver::{Browser, Kind};
use crate::looks::paths;
use crate::scene;

/// As long as a name may sensibly be.
pub(crate) const LONG: &str = "customer-support-escalation-triage-and-refund-approval-agent-of-the-emea-region-prod";

#[tokio::test]
async fn nothing_is_cut_at_any_width() {
    let scene = scene::start().await;
    let server = &scene.server;
    scene::kill(server, LONG).await;
    let long = server.incidents(LONG).await[0]["id"].as_str().unwrap().to_owned();
    let mut paths = paths(server).await;
    paths.extend([
        format!("/agents/{LONG}"),
        format!("/incidents/{long}"),
        "/wall".to_owned(),
        "/drill".to_owned(),
        "/search?text=import".to_owned(),
    ]);
    let mut problems = Vec::new();
    for kind in [Kind::PHONE, Kind::TABLET, Kind::DESKTOP, Kind::LARGE] {
        let browser = Browser::logged_in(server, kind).await;
        for path in &paths {
            browser.go(path).await;
            let found: Value = browser.run(include_str!("cut.js")).await;
            let found = found.as_array().unwrap().iter().map(|it| it.as_str().unwrap());
            problems.extend(found.map(|it| format!("{path} at {} px: {it}", kind.width)));
        }
        if kind.width == Kind::LARGE.width {
            let width = browser.run("return document.getElementById('main').getBoundingClientRect().width").await;
            assert!(width.as_f64() > Some(1500.0), "the space is used: {width}");
        }
    }
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}

/// The labels of every chart lie within the chart and the window, the newest calls of the what-if
/// within what is seen of it.
#[tokio::test]
async fn axis_labels_are_whole_on_a_phone() {
    let scene = scene::start().await;
    let browser = Browser::logged_in(&scene.server, Kind::PHONE).await;
    for path in ["/".to_owned(), "/costs?range=24h".to_owned(), format!("/agents/{}", scene::STUCK)] {
        browser.go(&path).await;
        let cut = "return [...document.querySelectorAll('.chart svg')].flatMap((svg) => {\
            const frame = svg.getBoundingClientRect();\
            return [...svg.querySelectorAll('text')].filter((text) => {\
              const box = text.getBoundingClientRect();\
              return box.left < Math.max(frame.left, 0) || box.right > Math.min(frame.right, innerWidth) || box.bottom > frame.bottom;\
            }).map((text) => text.textContent);\
          })";
        assert_eq!(browser.run(cut).await, json!([]), "{path}: labels are cut");
        let labels = browser.run("return document.querySelectorAll('.chart svg text').length").await;
        assert!(labels.as_u64() > Some(0), "{path}: there are labels");
    }
    let newest = "const bars = document.querySelectorAll('#what-if .call'); const last = bars[bars.length - 1].getBoundingClientRect();\
        return last.left >= 0 && last.right <= innerWidth";
    assert_eq!(browser.run(newest).await, json!(true), "the newest call is in view");
}

#[tokio::test]
async fn escape_closes_and_the_theme_keeps_search_and_filter() {
    let scene = scene::start().await;
    let browser = Browser::logged_in(&scene.server, Kind::DESKTOP).await;
    browser.go("/agents?search=o&state=active").await;
    browser.click(".foot form[action='/theme'] button").await;
    browser.wait_for("html[data-theme=dark]").await;
    assert_eq!(browser.path().await, "/agents?search=o&state=active");
    assert_eq!(browser.run("return document.getElementById('search').value").await, "o");

    browser.go("/agents").await;
    browser.click("#selected summary").await;
    browser.wait_for("#selected details[open]").await;
    browser.press('\u{e00c}').await;
    assert_eq!(browser.run("return document.querySelector('#selected details').open").await, false);

    let phone = Browser::logged_in(&scene.server, Kind::PHONE).await;
    phone.click("#navigation .rest summary").await;
    phone.click("#navigation .rest form[action='/theme'] button").await;
    phone.wait_for("html[data-theme=dark]").await;
}

#[tokio::test]
async fn wall_shows_state_scores_and_spending_without_menus() {
    let scene = scene::start().await;
    let browser = Browser::logged_in(&scene.server, Kind::LARGE).await;
    browser.go("/wall").await;
    browser.wait_for_text("#connection", "Live").await;
    assert!(browser.find("#navigation").await.is_none());
    browser.wait_for_text("#summary", "stopped").await;
    assert!(browser.text(".scores li:first-child").await.contains(scene::STUCK));
    browser.wait_for("#rotating li:not([hidden]) .score").await;
    let shown = "return document.querySelectorAll('#rotating li:not([hidden])').length";
    assert_eq!(browser.run(shown).await, json!(1));
}
