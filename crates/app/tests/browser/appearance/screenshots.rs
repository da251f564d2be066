//! Screenshots of every page, light and dark, at four widths: full, empty, crowded, and with
//! errors. Run by `scripts/screenshots`.

use std::path::PathBuf;

use http::Method;
use serde_json::json;

use crate::appearance::layout::LONG;
use crate::driver::{Browser, Kind};
use crate::scene::{self, Scene};
use crate::support::{Server, ServerBuilder, provider};

/// The agent of the otherwise empty system.
const FIRST: &str = "my-agent";

#[tokio::test]
#[ignore = "writes pictures; run scripts/screenshots"]
async fn screenshots() {
    let folder = PathBuf::from(std::env::var_os("SCREENSHOTS").expect("SCREENSHOTS names the folder"));
    std::fs::create_dir_all(&folder).unwrap();
    let scene = scene::start().await;
    let pages = pages(&scene).await;
    let upstream = provider().await;
    let crowd = crowd(&upstream.url()).await;
    for (kind, device) in KINDS {
        for theme in ["light", "dark"] {
            let suffix = format!("{theme}-{device}");
            let browser = Browser::logged_in(&scene.server, kind).await;
            let camera = Camera { browser, folder: folder.clone(), suffix: suffix.clone() };
            camera.choose_theme(theme).await;
            for (page, path) in &pages {
                camera.look_at(page, path).await;
            }
            camera.mistakes().await;
            let guess = [("#name", "ann"), ("#password", "a guess")];
            camera.guess(&scene.server, "login-people-wrong", &guess, "form#people button").await;
            let browser = Browser::logged_in(&crowd, kind).await;
            let camera = Camera { browser, folder: folder.clone(), suffix: suffix.clone() };
            camera.choose_theme(theme).await;
            for (page, path) in [("crowd-overview", "/"), ("crowd-agents", "/agents"), ("crowd-wall", "/wall")] {
                camera.look_at(page, path).await;
            }

            let empty = ServerBuilder::new(&upstream.url()).start();
            let browser = Browser::logged_in(&empty, kind).await;
            let camera = Camera { browser, folder: folder.clone(), suffix };
            camera.choose_theme(theme).await;
            camera.nothing_yet(&empty).await;
            drop(empty);
            camera.browser.wait_for_text("#connection", "Not live").await;
            camera.take("not-live").await;
        }
    }
}

/// The windows of the screenshots.
const KINDS: [(Kind, &str); 4] =
    [(Kind::PHONE, "390"), (Kind::TABLET, "820"), (Kind::DESKTOP, "1280"), (Kind::LARGE, "1920")];

/// A server with a hundred agents, one of which loops unstopped.
async fn crowd(upstream: &str) -> Server {
    let server = ServerBuilder::new(upstream).start();
    for number in 0..100 {
        server.kill_switch(&format!("worker-{number:02}"), json!({"enabled": number % 3 == 0})).await;
    }
    for _ in 0..15 {
        server.agent("worker-43").ask("Please fix the import of customers.csv, it fails again.").await;
    }
    server
}

/// Every page of a system with every kind of content.
async fn pages(scene: &Scene) -> Vec<(&'static str, String)> {
    let server = &scene.server;
    let incident = server.incidents(scene::STUCK).await[0]["id"].as_str().unwrap().to_owned();
    let false_alarm = scene::false_alarm(server).await;
    let call = server.events(scene::STUCK, "llm_call").await[0]["id"].as_str().unwrap().to_owned();
    let long = scene::kill(server, LONG).await;
    let failed = scene::fail(server).await;
    access(server).await;
    vec![
        ("agent-failing", format!("/agents/{}", scene::FAILING)),
        ("request-failed", format!("/requests/{failed}")),
        ("requests-failed", "/requests?show=failed".to_owned()),
        ("long-agent", format!("/agents/{LONG}")),
        ("long-incident", format!("/incidents/{long}")),
        ("wall", "/wall".to_owned()),
        ("drill", "/drill".to_owned()),
        ("alerts-add-telegram", "/alerts?add=telegram#channel-box".to_owned()),
        ("alerts-add-budget", "/alerts?rule=budget#add-rule".to_owned()),
        ("overview", "/".to_owned()),
        ("agents", "/agents".to_owned()),
        ("agents-no-match", "/agents?search=nobody".to_owned()),
        ("agent-stopped", format!("/agents/{}", scene::STUCK)),
        ("agent-watched", "/agents/page-crawler?window=10&threshold=5".to_owned()),
        ("agent-inactive", "/agents/old-crawler".to_owned()),
        ("agent-policy", format!("/agents/{}#policy-form", scene::LIMITED)),
        ("agent-exempt", format!("/agents/{}", scene::WATCHED)),
        ("incidents", "/incidents".to_owned()),
        ("incident", format!("/incidents/{incident}")),
        ("incident-false-alarm", format!("/incidents/{false_alarm}")),
        ("requests", "/requests".to_owned()),
        ("request", format!("/requests/{call}")),
        ("alerts", "/alerts".to_owned()),
        ("alerts-add-rule", "/alerts#add-rule".to_owned()),
        ("costs", "/costs?range=24h".to_owned()),
        ("groups", "/groups".to_owned()),
        ("keys", "/keys".to_owned()),
        ("settings", "/settings".to_owned()),
        ("people", "/settings/people".to_owned()),
        ("audit", "/settings/audit".to_owned()),
        ("replicas", "/settings/replicas".to_owned()),
        ("password", "/settings/password".to_owned()),
        ("search", "/search?text=import".to_owned()),
        ("requests-slow", "/requests?slow=30".to_owned()),
        ("problem", "/agents/nobody".to_owned()),
    ]
}

/// A group, agent keys, people and a token.
async fn access(server: &Server) {
    let group = json!({"agents": ["research-*", "translator"], "policy": {"budget_daily_usd": 25}});
    server.api(Method::PUT, "/api/groups/research", Some(group)).await;
    server.api(Method::PUT, "/api/groups/night", Some(json!({"agents": ["nightly-*"]}))).await;
    for (agent, name) in [(scene::LIMITED, "laptop of ann"), (LONG, "build server")] {
        server.api(Method::POST, "/api/agent-keys", Some(json!({"agent": agent, "name": name}))).await;
    }
    for (name, role) in [("ann", "admin"), ("vic", "viewer")] {
        let user = json!({"name": name, "role": role, "password": "a-password-of-the-test"});
        server.api(Method::POST, "/api/users", Some(user)).await;
    }
    server.api(Method::POST, "/api/tokens", Some(json!({"name": "grafana", "role": "viewer"}))).await;
}

/// A browser that takes screenshots.
struct Camera {
    browser: Browser,
    folder: PathBuf,
    /// `light-phone`
    suffix: String,
}

impl Camera {
    /// Opens a page and takes a screenshot.
    async fn look_at(&self, name: &str, path: &str) {
        self.browser.go(path).await;
        self.browser.wait_for_text("#connection", "Live").await;
        self.take(name).await;
    }

    /// Takes a screenshot of the window, and one of the whole page.
    async fn take(&self, name: &str) {
        self.write(&format!("{name}-{}-top.png", self.suffix), self.browser.picture().await);
        if self.browser.kind.is_phone {
            // The bar at the bottom would cover the middle of a long screenshot.
            self.browser.run("document.getElementById('navigation')?.style.setProperty('visibility', 'hidden')").await;
        }
        self.write(&format!("{name}-{}.png", self.suffix), self.browser.whole_picture().await);
        self.browser.run("document.getElementById('navigation')?.style.setProperty('visibility', '')").await;
    }

    fn write(&self, name: &str, picture: Vec<u8>) {
        std::fs::write(self.folder.join(name), picture).unwrap();
    }

    /// Forms that were sent with invalid values.
    async fn mistakes(&self) {
        self.browser.go("/settings").await;
        self.send_wrong("#defaults-form", "window_size", "1").await;
        self.take("settings-wrong").await;
        self.browser.go(&format!("/agents/{}#policy-form", scene::LIMITED)).await;
        self.send_wrong("#policy-form form", "budget_daily_usd", "much").await;
        self.take("agent-policy-wrong").await;
        self.browser.go("/alerts?rule=agent_down#add-rule").await;
        self.send_wrong("#add-rule form", "minutes", "soon").await;
        self.take("alerts-wrong").await;
    }

    /// Types an invalid value, and sends it without the browser's validation.
    async fn send_wrong(&self, form: &str, field: &str, typed: &str) {
        self.browser.type_into(&format!("{form} [name={field}]"), typed).await;
        self.browser.run(&format!("document.querySelector('{form}').noValidate = true")).await;
        self.browser.run(&format!("document.querySelector('{form} button:not([name])').click()")).await;
        self.browser.wait_for("[role=alert]:not([hidden])").await;
    }

    /// Every page of an empty system, and the question before the first kill switch is enabled.
    async fn nothing_yet(&self, server: &Server) {
        for page in ["overview", "agents", "incidents", "requests", "alerts", "costs"] {
            let path = if page == "overview" { "/".to_owned() } else { format!("/{page}") };
            self.look_at(&format!("empty-{page}"), &path).await;
        }
        server.kill_switch(FIRST, json!({"enabled": false})).await;
        self.look_at("empty-agent", &format!("/agents/{FIRST}")).await;
        self.browser.go(&format!("/agents/{FIRST}")).await;
        self.browser.click("#switch button").await;
        self.browser.wait_for("[role=alertdialog]").await;
        self.take("agent-asks").await;

        self.guess(server, "login-wrong", [("#token", "a guess")].as_slice(), "form#login button").await;
    }

    /// A visitor whose system has the theme of these screenshots, and who logs in wrongly.
    async fn guess(&self, server: &Server, name: &str, typed: &[(&str, &str)], button: &str) {
        let stranger = Browser::start(server, self.browser.kind).await;
        stranger.prefer(self.suffix.split('-').next().unwrap()).await;
        stranger.go("/login").await;
        self.write(&format!("{name}-before-{}.png", self.suffix), stranger.picture().await);
        for (field, text) in typed {
            stranger.type_into(field, text).await;
        }
        stranger.click(button).await;
        stranger.wait_for("#error").await;
        self.write(&format!("{name}-{}.png", self.suffix), stranger.picture().await);
    }

    /// Sends the form of the theme.
    async fn choose_theme(&self, theme: &str) {
        self.browser.go("/settings").await;
        let script = format!(
            "const form = document.querySelector('form[action=\"/theme\"]'); form.dataset.plain = ''; \
             const button = form.querySelector('button'); button.value = '{theme}'; \
             document.querySelectorAll('.foot > form').forEach((form) => (form.style.display = 'block')); button.click();"
        );
        self.browser.run(&script).await;
        self.browser.wait_for(&format!("html[data-theme=\"{theme}\"]")).await;
    }
}
