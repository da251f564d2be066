//! A page of another origin in a real browser: it cannot use the proxy unless its origin is
//! allowed.

use fake_provider::FakeProvider;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::driver::{Browser, Kind};
use crate::support::{Server, ServerBuilder, provider, requests};

const PAGE: &str = "<!doctype html><title>another site</title><h1>Another site</h1><iframe name=frame></iframe>";

/// Serves one page, and returns its port. `/to?URL` redirects.
pub(crate) async fn serve_page() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut request = Vec::new();
                let _ = stream.read_buf(&mut request).await;
                let _ = stream.write_all(answer(&String::from_utf8_lossy(&request)).as_bytes()).await;
            });
        }
    });
    port
}

fn answer(request: &str) -> String {
    let target = request.strip_prefix("GET /to?").and_then(|rest| rest.split(' ').next());
    let status = target.map_or("200 OK".to_owned(), |url| format!("302 Found\r\nlocation: {url}"));
    let head = format!("HTTP/1.1 {status}\r\ncontent-type: text/html\r\nconnection: close\r\ncontent-length");
    format!("{head}: {}\r\n\r\n{PAGE}", PAGE.len())
}

pub(crate) async fn open(browser: &Browser, url: &str) {
    browser.post("/url", json!({"url": url})).await;
    browser.wait_for("h1").await;
}

/// Every request that a page can send without a preflight.
fn attack(server: &Server) -> String {
    let url = format!("{}/agents/victim/openai/v1/chat/completions", server.proxy);
    let socket = url.replace("http://", "ws://");
    format!(
        r#"const url = {url:?}, body = JSON.stringify({{model: "m", messages: [{{role: "user", content: "Again"}}]}});
        const rest = [];
        for (let round = 0; round < 25; round++) {{
            const sent = {{method: "POST", mode: "no-cors", headers: {{"content-type": "text/plain"}}, body}};
            rest.push(fetch(url, sent).then((answer) => answer.type, (error) => String(error)));
        }}
        rest.push(fetch(url, {{method: "POST", headers: {{"content-type": "application/json"}}, body}})
            .then(() => "read", () => "refused"));
        rest.push(fetch({models:?}).then(() => "read", () => "refused"));
        rest.push(new Promise((done) => {{ const image = new Image(); image.onerror = image.onload = () => done("image"); image.src = {models:?}; }}));
        rest.push(new Promise((done) => {{ const script = document.createElement("script"); script.onerror = script.onload = () => done("script"); script.src = {models:?}; document.body.append(script); }}));
        rest.push(new Promise((done) => {{ const socket = new WebSocket({socket:?}); socket.onclose = () => done("socket"); }}));
        rest.push(new Promise((done) => {{
            const form = document.createElement("form");
            Object.assign(form, {{method: "POST", action: url, enctype: "text/plain", target: "frame"}});
            const field = document.createElement("input");
            Object.assign(field, {{name: body.slice(0, -1) + ', "x": "', value: '"}}'}});
            form.append(field); document.body.append(form);
            document.querySelector("iframe").onload = () => done("form");
            form.submit();
        }}));
        rest.push(new Promise((done) => {{
            const frame = document.createElement("iframe");
            frame.sandbox = "allow-scripts";
            frame.srcdoc = `<script>fetch(${{JSON.stringify(url)}}, {{method: "POST", mode: "no-cors", body: "{{}}"}}).finally(() => parent.postMessage("sandbox", "*"))</scr` + "ipt>";
            addEventListener("message", () => done("sandbox"));
            document.body.append(frame);
        }}));
        navigator.sendBeacon(url, body);
        return Promise.all(rest);"#,
        models = format!("{}/agents/victim/openai/v1/models", server.proxy),
    )
}

async fn armed_server(provider: &FakeProvider, arguments: &[&str]) -> Server {
    let server = ServerBuilder::new(&provider.url()).arguments(arguments).start();
    let settings = json!({"enabled": true, "threshold": 2.0, "counting": "literal"});
    server.kill_switch("victim", settings).await;
    server
}

#[tokio::test]
async fn a_foreign_page_spends_no_key_and_kills_no_agent() {
    let provider = provider().await;
    let port = serve_page().await;
    let server = armed_server(&provider, &[]).await;
    let browser = Browser::start(&server, Kind::DESKTOP).await;
    // Another site, and the same site on another port.
    for host in ["localhost", "127.0.0.1"] {
        open(&browser, &format!("http://{host}:{port}/")).await;
        let said = browser.run(&attack(&server)).await;
        let said: Vec<&str> = said.as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
        assert!(said.contains(&"opaque") && said.contains(&"socket") && !said.contains(&"read"), "{said:?}");
    }
    // A program's call passes: the agent is unchanged, and the provider got no request before.
    assert_eq!(server.agent("victim").ask("Is anybody there?").await.status, 200);
    assert_eq!(requests(&provider), 1);
    let victim = server.get("/api/agents/victim").await;
    assert_eq!((&victim["active"], &victim["current_score"]), (&json!(true), &json!(0.0)), "{victim}");
    assert_eq!(server.events("victim", "blocked").await, Vec::<Value>::new());
}

/// The browser says of such a request that no page sent it, as if a person had typed the address.
#[tokio::test]
async fn an_opened_page_that_redirects_to_the_proxy_is_refused() {
    let provider = provider().await;
    let port = serve_page().await;
    let server = armed_server(&provider, &[]).await;
    let browser = Browser::start(&server, Kind::DESKTOP).await;
    let url = format!("{}/agents/redirected/openai/v1/models", server.proxy);
    browser.post("/url", json!({"url": format!("http://localhost:{port}/to?{url}")})).await;
    browser.wait_for_text("body", "a browser may not open this address").await;
    assert_eq!(requests(&provider), 0);
    assert_eq!(server.get("/api/events").await["items"], json!([]));
}

#[tokio::test]
async fn an_allowed_page_calls_and_reads_answers_and_refusals() {
    let provider = provider().await;
    let port = serve_page().await;
    let origin = format!("http://localhost:{port}");
    let server = armed_server(&provider, &["--allow-origin", &origin]).await;
    let browser = Browser::start(&server, Kind::DESKTOP).await;
    open(&browser, &origin).await;
    let call = format!(
        r#"const headers = {{"content-type": "application/json", "authorization": "Bearer sk-page", "x-stainless-lang": "js"}};
        const body = JSON.stringify({{model: "m", messages: [{{role: "user", content: "Look into the nightly import, please"}}]}});
        return fetch({url:?}, {{method: "POST", headers, body}})
            .then(async (answer) => [answer.status, answer.headers.get("x-agentgazer-request-id") !== null, await answer.json()])"#,
        url = format!("{}/agents/victim/openai/v1/chat/completions", server.proxy),
    );
    let answer = browser.run(&call).await;
    assert_eq!((&answer[0], &answer[1]), (&json!(200), &json!(true)), "{answer}");
    assert!(answer[2]["choices"][0]["message"]["content"].is_string(), "{answer}");
    // In a loop it is stopped like a program, and gets the refusal.
    let mut refused = browser.run(&call).await;
    for _ in 0..10 {
        refused = browser.run(&call).await;
    }
    assert_eq!((&refused[0], &refused[2]["block_reason"]), (&json!(400), &json!("inactive")), "{refused}");

    // A page of any other origin still cannot.
    open(&browser, &format!("http://127.0.0.1:{port}")).await;
    assert_eq!(browser.run(&format!("{call}.catch(() => \"unreadable\")")).await, "unreadable");
}
