//! The SMTP server: set on the page and by the API, over the configuration; its password never
//! comes back.

use axum::http::{Method, StatusCode};
use serde_json::json;

use crate::pages::Browser;
use crate::server::Server;

const PATH: &str = "/api/settings/smtp";
const PASSWORD: &str = "canary pass word";

#[tokio::test]
async fn smtp_server_set_by_people_overrides_the_configuration() {
    let server = Server::start().await;
    let before = server.json(PATH).await;
    assert_eq!((&before["in_force"]["host"], &before["is_set_here"]), (&json!("relay.example.com"), &json!(false)));
    let body = json!({"host": "smtp.example.com", "port": 2525, "security": "tls", "username": "gazer",
        "password": PASSWORD, "from": "AgentGazer <gazer@example.com>"});
    let put = server.put(PATH, body).await;
    assert_eq!(put.status, StatusCode::OK, "{}", put.text);
    let set = server.json(PATH).await;
    assert_eq!(
        set["in_force"],
        json!({"host": "smtp.example.com", "port": 2525, "security": "tls", "username": "gazer", "has_password": true,
            "from": "AgentGazer <gazer@example.com>"})
    );
    assert_eq!((&set["configured"]["host"], &set["is_set_here"]), (&json!("relay.example.com"), &json!(true)));
    let stored = server.web.store.smtp_server().await.unwrap().unwrap();
    assert_eq!(secrecy::ExposeSecret::expose_secret(&stored.password.unwrap()), PASSWORD);
    assert!(!put.text.contains("canary") && !set.to_string().contains("canary"));

    let reset = server.ask(Method::DELETE, PATH, None).await.json();
    assert_eq!((&reset["in_force"]["host"], &reset["is_set_here"]), (&json!("relay.example.com"), &json!(false)));
}

#[tokio::test]
async fn stored_password_goes_to_no_other_login() {
    let server = Server::start().await;
    let login = |host: &str, security: &str| json!({"host": host, "security": security, "username": "gazer", "from": "gazer@example.com"});
    let mut body = login("smtp.example.com", "starttls");
    body["password"] = json!(PASSWORD);
    assert_eq!(server.put(PATH, body).await.status, StatusCode::OK);
    let kept = server.put(PATH, login("smtp.example.com", "starttls")).await;
    assert_eq!(kept.json()["in_force"]["has_password"], json!(true), "{}", kept.text);
    for other in [login("evil.example.com", "starttls"), login("smtp.example.com", "none")] {
        let refused = server.put(PATH, other).await;
        assert_eq!((refused.status, &refused.json()["field"]), (StatusCode::BAD_REQUEST, &json!("password")));
    }
    // Without a login there is no password to keep.
    let without = json!({"host": "evil.example.com", "from": "gazer@example.com"});
    assert_eq!(server.put(PATH, without).await.json()["in_force"]["has_password"], json!(false));
}

#[tokio::test]
async fn smtp_server_that_is_wrong_names_its_field() {
    let server = Server::start().await;
    for (field, body) in [
        ("host", json!({"host": "mail server", "from": "gazer@example.com"})),
        ("host", json!({"host": "10.0.0.7", "from": "gazer@example.com"})),
        ("host", json!({"host": "intranet.test", "from": "gazer@example.com"})),
        ("from", json!({"host": "smtp.example.com", "from": "gazer\r\nBcc: x@example.com"})),
        ("from", json!({"host": "smtp.example.com"})),
        ("port", json!({"host": "smtp.example.com", "port": 0, "from": "gazer@example.com"})),
        ("port", json!({"host": "smtp.example.com", "port": 70000, "from": "gazer@example.com"})),
        ("security", json!({"host": "smtp.example.com", "security": "ssl", "from": "gazer@example.com"})),
        ("password", json!({"host": "smtp.example.com", "username": "gazer", "from": "gazer@example.com"})),
        ("username", json!({"host": "smtp.example.com", "password": "x", "from": "gazer@example.com"})),
    ] {
        let refused = server.put(PATH, body.clone()).await;
        assert_eq!((refused.status, &refused.json()["field"]), (StatusCode::BAD_REQUEST, &json!(field)), "{body}");
    }
    assert_eq!(server.json(PATH).await["is_set_here"], json!(false));
}

#[tokio::test]
async fn mail_server_is_set_and_tested_on_the_page() {
    let server = Server::start().await;
    let browser = Browser::new(&server).await;
    assert!(browser.page("/settings").await.contains("It is as configured."));
    let wrong = browser
        .post("/settings/mail", "host=smtp.example.com&port=soon&security=tls&username=&password=&from=a%40b.c")
        .await;
    assert_eq!(wrong.status, StatusCode::BAD_REQUEST);
    assert!(wrong.text.contains("Port must be a port from 1 to 65535") && wrong.text.contains("value=\"soon\""));

    let fields =
        "host=smtp.example.com&port=&security=tls&username=gazer&password=canary+pass+word&from=gazer%40example.com";
    browser.submit("/settings/mail", fields, "/settings?done=mail#mail").await;
    let page = browser.page("/settings").await;
    for said in ["value=\"smtp.example.com\"", "keep the stored one", "which name <code>relay.example.com</code>"] {
        assert!(page.contains(said), "{said}: {page}");
    }
    assert!(!page.contains("canary"), "the password never comes back");

    for (to, said) in [
        ("ops@example.com", "Delivered</span>. 250 queued"),
        ("nobody@example.com", "Failed</span>. 550 no such user here"),
        ("nobody", "To must be plain mail addresses"),
    ] {
        let tested = browser.post("/settings/mail/test", &format!("to={to}")).await;
        assert!(tested.text.contains(said), "{said}: {}", tested.text);
    }
    browser.submit("/settings/mail/reset", "", "/settings?done=as-configured#mail").await;
    assert_eq!(server.json(PATH).await["is_set_here"], json!(false));
}
