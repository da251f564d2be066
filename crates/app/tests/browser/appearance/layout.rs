//! Nothing overflows, whatever the name of an agent and the width of the window.

use serde_json::{Value, json};

use crate::appearance::looks::paths;
use crate::driver::{Browser, Kind};
use crate::scene;
use crate::support::{ServerBuilder, provider};

/// As long as a realistic name may be.
pub(crate) const LONG: &str = "customer-support-escalation-triage-and-refund-approval-agent-of-the-emea-region-prod";

#[tokio::test]
async fn nothing_is_cut_at_any_width() {
    let scene = scene::start().await;
    let server = &scene.server;
    scene::kill(server, LONG).await;
    let long = server.incidents(LONG).await[0]["id"].as_str().unwrap().to_owned();
    let failed = scene::fail(server).await;
    let mut paths = paths(server).await;
    paths.extend([
        format!("/agents/{}", scene::FAILING),
        format!("/requests/{failed}"),
        "/requests?show=failed".to_owned(),
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

/// A tablet has no pointer that would show what a picture means.
#[tokio::test]
async fn entries_of_the_menu_have_words_at_every_width() {
    let upstream = provider().await;
    let server = ServerBuilder::new(&upstream.url()).start();
    for kind in [Kind::TABLET, Kind::DESKTOP] {
        let browser = Browser::logged_in(&server, kind).await;
        for word in
            ["Overview", "Agents", "Incidents", "Requests", "Alerts", "Costs", "Groups", "Keys", "Settings", "Wall"]
        {
            let menu = browser.text("#navigation").await;
            assert!(menu.contains(word), "{word} at {} px: {menu}", kind.width);
        }
        let narrow = "return [...document.querySelectorAll('#navigation > ul > li:not(.rest) > a > span:first-of-type')]\
            .filter((span) => span.getBoundingClientRect().width < 20 || span.scrollWidth > span.clientWidth + 1 && span.clientWidth > 0)\
            .map((span) => span.textContent)";
        assert_eq!(browser.run(narrow).await, json!([]), "at {} px", kind.width);
    }
}

/// The labels of every chart lie within the chart and the window, and the newest calls of the
/// what-if are visible.
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
async fn search_field_has_a_row_of_its_own_on_a_phone() {
    let scene = scene::start().await;
    let browser = Browser::logged_in(&scene.server, Kind::PHONE).await;
    for path in ["/agents", "/requests", "/incidents", "/settings/audit"] {
        browser.go(path).await;
        let room = "const form = document.querySelector('.filters'); const field = form.querySelector('input[type=search]');\
            return form.getBoundingClientRect().width - field.getBoundingClientRect().width";
        assert_eq!(browser.run(room).await, json!(0), "{path}");
    }
}

#[tokio::test]
async fn figure_without_a_price_fits_its_tile() {
    let upstream = provider().await;
    let server = ServerBuilder::new(&upstream.url()).start();
    server.agent("local").ask("Are you there?").await;
    for kind in [Kind::PHONE, Kind::TABLET, Kind::DESKTOP, Kind::LARGE] {
        let browser = Browser::logged_in(&server, kind).await;
        for path in ["/", "/wall"] {
            browser.go(path).await;
            browser.wait_for_text("main", "unpriced").await;
            let wide = "return [...document.querySelectorAll('.big')].filter((it) => it.scrollWidth > it.clientWidth)\
                .map((it) => it.textContent)";
            assert_eq!(browser.run(wide).await, json!([]), "{path} at {} px", kind.width);
        }
    }
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
    let lines = "const link = document.querySelector('.top a.button'); const range = document.createRange();\
        range.selectNodeContents(link); return range.getClientRects().length";
    assert_eq!(browser.run(lines).await, json!(1), "a long headline leaves room for the button");
    let shown = "return document.querySelectorAll('#rotating li:not([hidden])').length";
    assert_eq!(browser.run(shown).await, json!(1));
}
