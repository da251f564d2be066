//! Measurable properties of the pages: contrast, width on a phone, names of controls, size,
//! keyboard.

use serde_json::Value;

use crate::driver::{Browser, Kind};
use crate::keyboard::{ENTER, TAB};
use crate::scene;
use crate::support::Server;

pub(crate) async fn paths(server: &Server) -> Vec<String> {
    let incident = server.incidents(scene::STUCK).await[0]["id"].as_str().unwrap().to_owned();
    let call = server.events(scene::STUCK, "llm_call").await[0]["id"].as_str().unwrap().to_owned();
    let mut paths: Vec<String> =
        ["/", "/agents", "/incidents", "/requests", "/alerts", "/costs", "/groups", "/keys", "/settings", "/nowhere"]
            .map(str::to_owned)
            .to_vec();
    paths
        .extend(["/settings/people", "/settings/password", "/settings/audit", "/settings/replicas"].map(str::to_owned));
    paths.push(format!("/agents/{}#policy-form", scene::LIMITED));
    paths.extend([format!("/agents/{}", scene::STUCK), format!("/incidents/{incident}"), format!("/requests/{call}")]);
    paths
}

fn problems(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|problem| problem.as_str().unwrap()).collect()
}

#[tokio::test]
async fn every_page_can_be_read_and_operated() {
    let scene = scene::start().await;
    let server = &scene.server;
    for kind in [Kind::DESKTOP, Kind::PHONE] {
        let browser = Browser::logged_in(server, kind).await;
        for path in paths(server).await {
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
async fn the_keyboard_skips_to_the_content() {
    let scene = scene::start().await;
    let server = &scene.server;
    let browser = Browser::logged_in(server, Kind::BY_KEYBOARD).await;
    browser.go(&format!("/agents/{}", scene::STUCK)).await;
    browser.press(TAB).await;
    assert_eq!(browser.run("return document.activeElement.textContent").await, "Skip to the content");
    browser.press(ENTER).await;
    browser.press(TAB).await;
    assert_eq!(browser.run("return document.activeElement.closest('main') !== null").await, true);
}
