//! What can be measured of how the pages look: contrast, width on a phone, names for what can be operated, size, keyboard.

use serde_json::Value;

use crate::driver::{Browser, Kind};
use crate::scene;
use crate::support::Server;

const TAB: char = '\u{e004}';
const ENTER: char = '\u{e007}';

async fn paths(server: &Server) -> Vec<String> {
    let incident = server.incidents(scene::STUCK).await[0]["id"].as_str().unwrap().to_owned();
    let call = server.events(scene::STUCK, "llm_call").await[0]["id"].as_str().unwrap().to_owned();
    let mut paths: Vec<String> =
        ["/", "/agents", "/incidents", "/requests", "/alerts", "/costs", "/settings", "/nowhere"]
            .map(str::to_owned)
            .to_vec();
    paths.push(format!("/agents/{}#policy-form", scene::LIMITED));
    paths.extend([format!("/agents/{}", scene::STUCK), format!("/incidents/{incident}"), format!("/requests/{call}")]);
    paths
}

fn problems(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|problem| problem.as_str().unwrap()).collect()
}

#[tokio::test]
async fn every_page_can_be_read_and_operated() {
    let (_provider, server) = scene::start().await;
    for kind in [Kind::DESKTOP, Kind::PHONE] {
        let browser = Browser::logged_in(&server, kind).await;
        for path in paths(&server).await {
            browser.go(&path).await;
            for theme in ["light", "dark"] {
                browser.run(&format!("document.documentElement.dataset.theme = '{theme}'")).await;
                let poor = browser.run(include_str!("contrast.js")).await;
                assert_eq!(problems(&poor), Vec::<&str>::new(), "{path} {theme}: contrast below 4.5");
            }
            let wide =
                browser.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth").await;
            assert_eq!(wide, 0, "{path}: the page itself scrolls sideways at {} px", kind.width);
            let nameless = browser.run(include_str!("nameless.js")).await;
            assert_eq!(problems(&nameless), Vec::<&str>::new(), "{path}: has no name");
            let transfer = browser
                .run("return performance.getEntries().reduce((sum, entry) => sum + (entry.encodedBodySize || 0), 0)");
            let transfer = transfer.await.as_u64().unwrap();
            assert!(transfer < 150_000, "{path}: {transfer} bytes");
        }
        assert_eq!(browser.log().await, Vec::<String>::new());
    }
}

#[tokio::test]
async fn the_keyboard_is_enough() {
    let (_provider, server) = scene::start().await;
    let browser = Browser::logged_in(&server, Kind::DESKTOP).await;
    browser.go(&format!("/agents/{}", scene::STUCK)).await;
    browser.wait_for_text("#connection", "Live").await;
    browser.press(TAB).await;
    assert_eq!(browser.run("return document.activeElement.textContent").await, "Skip to the content");
    browser.press(ENTER).await;
    // From the content, by keys alone, to the confirmation and through it.
    reach(&browser, "summary", "Activate…").await;
    browser.press(ENTER).await;
    reach(&browser, "button", "Activate import-fixer").await;
    browser.press(ENTER).await;
    browser.wait_for_text("#notice", "Active again.").await;
    assert_eq!(server.get("/api/agents/import-fixer").await["active"], true);
}

/// Goes on with the tabulator until the focus is on what says `text`, and sees that the focus can be seen.
async fn reach(browser: &Browser, tag: &str, text: &str) {
    for _ in 0..60 {
        browser.press(TAB).await;
        let focus = browser
            .run("const at = document.activeElement; return [at.tagName.toLowerCase(), at.textContent.trim(), getComputedStyle(at).outlineStyle]")
            .await;
        if focus[0] == tag && focus[1] == text {
            assert_ne!(focus[2], "none", "the focus on {text} cannot be seen");
            return;
        }
    }
    panic!("{tag} {text:?} cannot be reached");
}
