//! A browser, driven through WebDriver: a few JSON requests to chromedriver.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::Method;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{Http, Server, eventually};

/// The key under which WebDriver names an element.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// The kind of a browser.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) is_phone: bool,
    pub(crate) has_script: bool,
    /// Whether it is operated by keyboard only.
    pub(crate) is_by_keyboard: bool,
}

impl Kind {
    pub(crate) const DESKTOP: Kind =
        Kind { width: 1280, height: 900, is_phone: false, has_script: true, is_by_keyboard: false };
    pub(crate) const PHONE: Kind = Kind { width: 390, height: 844, is_phone: true, ..Kind::DESKTOP };
    pub(crate) const TABLET: Kind = Kind { width: 820, height: 1180, is_phone: true, ..Kind::DESKTOP };
    pub(crate) const LARGE: Kind = Kind { width: 1920, height: 1080, ..Kind::DESKTOP };
    pub(crate) const WITHOUT_SCRIPT: Kind = Kind { has_script: false, ..Kind::DESKTOP };
    pub(crate) const BY_KEYBOARD: Kind = Kind { is_by_keyboard: true, ..Kind::DESKTOP };
}

/// A browser with one window; it ends with its driver when it is dropped.
pub(crate) struct Browser {
    http: Http,
    session: String,
    driver: Child,
    pub(crate) kind: Kind,
    pub(crate) dashboard: String,
    _profile: TempDir,
}

impl Browser {
    /// Starts a browser for `server`.
    pub(crate) async fn start(server: &Server, kind: Kind) -> Browser {
        let profile = tempfile::tempdir().unwrap();
        let (driver, port) = (0..STARTS).find_map(|_| start_driver()).expect("chromedriver says its port");
        let address = format!("http://127.0.0.1:{port}");
        let http = Http::new();
        let capabilities = capabilities(kind, profile.path().to_str().unwrap());
        let answer = http.json(Method::POST, &format!("{address}/session"), None, Some(&capabilities)).await.unwrap();
        let id = answer.json()["value"]["sessionId"].as_str().unwrap_or_else(|| panic!("{answer:?}")).to_owned();
        let session = format!("{address}/session/{id}");
        Browser { http, session, driver, kind, dashboard: server.dashboard.clone(), _profile: profile }
    }

    /// Starts a browser and logs in by hand.
    pub(crate) async fn logged_in(server: &Server, kind: Kind) -> Browser {
        let browser = Browser::start(server, kind).await;
        browser.go("/login").await;
        browser.type_into("#token", &server.token).await;
        browser.click("form#login button").await;
        browser.wait_for("nav#navigation").await;
        browser
    }

    async fn command(&self, method: Method, path: &str, body: Option<Value>) -> Result<Value, String> {
        let url = format!("{}{path}", self.session);
        let answer = self.http.json(method, &url, None, body.as_ref()).await?;
        let value = answer.json()["value"].clone();
        if answer.status.is_success() { Ok(value) } else { Err(value["message"].to_string()) }
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Value {
        self.command(Method::POST, path, Some(body)).await.unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Opens a page of the dashboard.
    pub(crate) async fn go(&self, path: &str) {
        self.post("/url", json!({"url": format!("{}{path}", self.dashboard)})).await;
    }

    pub(crate) async fn reload(&self) {
        self.post("/refresh", json!({})).await;
    }

    /// The path of the page that is open.
    pub(crate) async fn path(&self) -> String {
        let url = self.command(Method::GET, "/url", None).await.unwrap();
        url.as_str().unwrap().strip_prefix(&self.dashboard).unwrap_or_default().to_owned()
    }

    /// The first element that `selector` finds now.
    pub(crate) async fn find(&self, selector: &str) -> Option<String> {
        let query = json!({"using": "css selector", "value": selector});
        let found = self.command(Method::POST, "/element", Some(query)).await.ok()?;
        found[ELEMENT].as_str().map(str::to_owned)
    }

    /// Waits for an element.
    pub(crate) async fn wait_for(&self, selector: &str) -> String {
        eventually(selector, async || self.find(selector).await).await
    }

    /// Waits until the first element that `selector` finds says `text`, on however many lines.
    pub(crate) async fn wait_for_text(&self, selector: &str, text: &str) {
        eventually(&format!("{selector} says {text:?}"), async || {
            let said = self.try_text(selector).await?;
            (said.contains(text) || said.replace('\n', " ").contains(text)).then_some(())
        })
        .await;
    }

    async fn try_text(&self, selector: &str) -> Option<String> {
        let element = self.find(selector).await?;
        let text = self.command(Method::GET, &format!("/element/{element}/text"), None).await.ok()?;
        text.as_str().map(str::to_owned)
    }

    /// The visible text of an element.
    pub(crate) async fn text(&self, selector: &str) -> String {
        self.wait_for(selector).await;
        self.try_text(selector).await.unwrap_or_default()
    }

    /// Waits for the element and clicks it; by keyboard, focuses it and presses it.
    pub(crate) async fn click(&self, selector: &str) {
        if self.kind.is_by_keyboard {
            return self.reach_and_press(selector).await;
        }
        eventually(&format!("click {selector}"), async || {
            let element = self.find(selector).await?;
            // Scrolls until nothing covers it, like the bar at the bottom of a phone.
            let script = "arguments[0].scrollIntoView({ block: 'center', behavior: 'instant' })";
            let scroll = json!({"script": script, "args": [{ELEMENT: element}]});
            self.command(Method::POST, "/execute/sync", Some(scroll)).await.ok()?;
            self.command(Method::POST, &format!("/element/{element}/click"), Some(json!({}))).await.ok()
        })
        .await;
    }

    pub(crate) async fn type_into(&self, selector: &str, text: &str) {
        if self.kind.is_by_keyboard {
            return self.reach_and_type(selector, text).await;
        }
        let element = self.wait_for(selector).await;
        self.post(&format!("/element/{element}/clear"), json!({})).await;
        self.post(&format!("/element/{element}/value"), json!({"text": text})).await;
    }

    /// A property of an element.
    pub(crate) async fn property(&self, element: &str, name: &str) -> String {
        let value = self.command(Method::GET, &format!("/element/{element}/property/{name}"), None).await.unwrap();
        value.as_str().unwrap_or_default().to_owned()
    }

    /// Runs a script of the test and returns its result.
    pub(crate) async fn run(&self, script: &str) -> Value {
        self.post("/execute/sync", json!({"script": script, "args": []})).await
    }

    /// Makes the system of this browser prefer `light` or `dark`.
    pub(crate) async fn prefer(&self, scheme: &str) {
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        let command = json!({"cmd": "Emulation.setEmulatedMedia", "params": {"features": features}});
        self.post("/goog/cdp/execute", command).await;
    }

    /// The window as a picture.
    pub(crate) async fn picture(&self) -> Vec<u8> {
        let picture = self.command(Method::GET, "/screenshot", None).await.unwrap();
        STANDARD.decode(picture.as_str().unwrap()).unwrap()
    }

    /// The whole page as a picture, however long it is.
    pub(crate) async fn whole_picture(&self) -> Vec<u8> {
        let command = json!({"cmd": "Page.captureScreenshot", "params": {"captureBeyondViewport": true}});
        let picture = self.post("/goog/cdp/execute", command).await;
        STANDARD.decode(picture["data"].as_str().unwrap()).unwrap()
    }

    /// The messages of the browser's log since the last call: refusals and failures. An error
    /// status of our own is not a failure.
    pub(crate) async fn log(&self) -> Vec<String> {
        let entries = self.post("/se/log", json!({"type": "browser"})).await;
        let entries = entries.as_array().unwrap().iter();
        let messages = entries.map(|entry| entry["message"].as_str().unwrap_or_default().to_owned());
        messages.filter(|message| !message.contains("the server responded with a status of 4")).collect()
    }

    /// The addresses requested since the last call.
    pub(crate) async fn requests(&self) -> Vec<String> {
        let entries = self.post("/se/log", json!({"type": "performance"})).await;
        let messages = entries.as_array().unwrap().iter().filter_map(|entry| {
            let message: Value = serde_json::from_str(entry["message"].as_str()?).ok()?;
            let message = &message["message"];
            (message["method"] == "Network.requestWillBeSent").then(|| message["params"]["request"]["url"].clone())
        });
        messages.map(|url| url.as_str().unwrap_or_default().to_owned()).collect()
    }
}

impl Browser {
    /// Ends the session and waits for it. Not async, because `drop` calls it.
    fn end_session(&self) -> std::io::Result<()> {
        let address = self.session.strip_prefix("http://").unwrap_or_default();
        let (host, path) = address.split_once('/').unwrap_or_default();
        let mut connection = TcpStream::connect(host)?;
        write!(connection, "DELETE /{path} HTTP/1.1\r\nhost: {host}\r\n\r\n")?;
        // The driver answers when the browser has ended, and keeps the connection open.
        connection.set_read_timeout(Some(Duration::from_secs(10)))?;
        connection.read(&mut [0; 1024]).map(drop)
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Only the end of its session ends the browser: killing the driver leaves it running.
        let _ = self.end_session();
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// How often the driver is started until it is up.
const STARTS: usize = 5;

/// Starts the driver; `None` if it ended at once. It takes a free port of IPv4 and needs the same
/// port of IPv6, which may be in use.
fn start_driver() -> Option<(Child, u16)> {
    let mut driver = Command::new("chromedriver")
        .arg("--port=0")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("chromedriver is missing: install chromium and chromium-driver");
    let port = port(&mut driver);
    if port.is_none() {
        let _ = driver.wait();
    }
    port.map(|port| (driver, port))
}

/// The port that the driver prints.
fn port(driver: &mut Child) -> Option<u16> {
    let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines();
    let port = lines.find_map(|line| {
        let line = line.unwrap();
        line.split_once("successfully on port ").and_then(|(_, port)| port.trim_end_matches('.').parse().ok())
    });
    // The rest of its output is read, so that it never blocks.
    std::thread::spawn(move || lines.for_each(drop));
    port
}

fn capabilities(kind: Kind, profile: &str) -> Value {
    let Kind { width, height, is_phone, has_script, .. } = kind;
    let mut options = json!({
        "args": [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
            "--disable-background-networking", "--disable-component-update", "--disable-sync", "--lang=en-US",
            "--disable-dev-shm-usage", format!("--window-size={width},{height}"), format!("--user-data-dir={profile}"),
        ],
    });
    if is_phone {
        let metrics = json!({"width": width, "height": height, "pixelRatio": 2.0, "touch": true});
        options["mobileEmulation"] = json!({"deviceMetrics": metrics});
    }
    if !has_script {
        options["prefs"] = json!({"profile.managed_default_content_settings.javascript": 2});
    }
    json!({"capabilities": {"alwaysMatch": {
        "browserName": "chrome",
        "goog:chromeOptions": options,
        "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        "timeouts": {"script": 30_000, "pageLoad": Duration::from_secs(60).as_millis() as u64},
    }}})
}
