//! Pictures of every page, light and dark, on a desktop and on a phone. Run by `scripts/screenshots`.

use std::path::PathBuf;

use crate::driver::{Browser, Kind};
use crate::scene;
use crate::support::{ServerBuilder, provider};

#[tokio::test]
#[ignore = "writes pictures; run scripts/screenshots"]
async fn screenshots() {
    let folder = PathBuf::from(std::env::var_os("SCREENSHOTS").expect("SCREENSHOTS names the folder"));
    std::fs::create_dir_all(&folder).unwrap();
    let scene = scene::start().await;
    let server = &scene.server;
    let incident = server.incidents(scene::STUCK).await[0]["id"].as_str().unwrap().to_owned();
    let false_alarm = scene::false_alarm(server).await;
    let call = server.events(scene::STUCK, "llm_call").await[0]["id"].as_str().unwrap().to_owned();
    let pages = [
        ("overview", "/".to_owned()),
        ("agents", "/agents".to_owned()),
        ("agent-stopped", format!("/agents/{}", scene::STUCK)),
        ("agent", "/agents/page-crawler".to_owned()),
        ("agent-policy", format!("/agents/{}#policy-form", scene::LIMITED)),
        ("incidents", "/incidents".to_owned()),
        ("incident", format!("/incidents/{incident}")),
        ("incident-false-alarm", format!("/incidents/{false_alarm}")),
        ("agent-exempt", format!("/agents/{}", scene::WATCHED)),
        ("requests", "/requests".to_owned()),
        ("request", format!("/requests/{call}")),
        ("alerts", "/alerts".to_owned()),
        ("costs", "/costs?range=24h".to_owned()),
        ("settings", "/settings".to_owned()),
        ("problem", "/agents/nobody".to_owned()),
    ];
    let fresh = provider().await;
    let empty = ServerBuilder::new(&fresh.url()).start();
    for (kind, name) in [(Kind::DESKTOP, "desktop"), (Kind::PHONE, "phone")] {
        let browser = Browser::logged_in(server, kind).await;
        let newcomer = Browser::logged_in(&empty, kind).await;
        for theme in ["light", "dark"] {
            choose_theme(&browser, theme).await;
            choose_theme(&newcomer, theme).await;
            for (page, path) in &pages {
                browser.go(path).await;
                browser.wait_for_text("#connection", "Live").await;
                std::fs::write(folder.join(format!("{page}-{theme}-{name}.png")), browser.whole_picture().await)
                    .unwrap();
                std::fs::write(folder.join(format!("{page}-{theme}-{name}-top.png")), browser.picture().await).unwrap();
            }
            newcomer.go("/").await;
            std::fs::write(folder.join(format!("empty-{theme}-{name}.png")), newcomer.picture().await).unwrap();
        }
        let stranger = Browser::start(server, kind).await;
        stranger.go("/login").await;
        std::fs::write(folder.join(format!("login-light-{name}.png")), stranger.picture().await).unwrap();
    }
}

/// Sends the form of the theme, whichever theme its button offers.
async fn choose_theme(browser: &Browser, theme: &str) {
    browser.go("/settings").await;
    let script = format!(
        "const form = document.querySelector('form[action=\"/theme\"]'); form.dataset.plain = ''; \
         const button = form.querySelector('button'); button.value = '{theme}'; \
         document.querySelectorAll('.foot > form').forEach((form) => (form.style.display = 'block')); button.click();"
    );
    browser.run(&script).await;
    browser.wait_for(&format!("html[data-theme=\"{theme}\"]")).await;
}
