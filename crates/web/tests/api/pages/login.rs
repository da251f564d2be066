//! Logging in and out.

use axum::http::StatusCode;

use super::Browser;
use crate::server::{Server, TOKEN, form};

#[tokio::test]
async fn without_a_session_every_page_leads_to_the_login() {
    let server = Server::start().await;
    let stranger = Browser { server: &server, cookie: String::new() };
    for (path, target) in [
        ("/", "/login"),
        ("/agents", "/login?next=/agents"),
        ("/incidents/abc", "/login?next=/incidents/abc"),
        ("/nowhere", "/login?next=/nowhere"),
        ("/a%0d%0ab", "/login?next=/a%250d%250ab"),
        ("/requests?agent=a&state=b", "/login?next=/requests%3Fagent%3Da%26state%3Db"),
        ("//evil.test", "/login"),
    ] {
        let answer = stranger.get(path).await;
        assert_eq!((answer.status, answer.header("location")), (StatusCode::SEE_OTHER, target), "{path}");
    }
}

#[tokio::test]
async fn a_session_opens_with_the_token_and_ends_with_the_logout() {
    let server = Server::start().await;
    let login = server.send(form("/login", &format!("token={TOKEN}&next=/incidents/abc"))).await;
    assert_eq!((login.status, login.header("location")), (StatusCode::SEE_OTHER, "/incidents/abc"));
    let cookie = login.header("set-cookie");
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax"), "{cookie}");

    let browser = Browser::new(&server).await;
    assert_eq!(browser.get("/").await.status, StatusCode::OK);
    assert_eq!(browser.get("/api/agents").await.status, StatusCode::OK);
    browser.submit("/logout", "", "/login").await;
    assert_eq!(browser.get("/").await.status, StatusCode::SEE_OTHER);

    let browser = Browser::new(&server).await;
    server.web.clock.advance(7 * 24 * 60 * 60 * 1000);
    assert_eq!(browser.get("/").await.status, StatusCode::SEE_OTHER, "after seven days");
}

#[tokio::test]
async fn login_leads_a_browser_with_a_session_on() {
    let server = Server::start().await;
    let browser = Browser::new(&server).await;
    let led = browser.get("/login?next=/incidents/abc%3Fx%3D1").await;
    assert_eq!((led.status, led.header("location")), (StatusCode::SEE_OTHER, "/incidents/abc?x=1"));
    let led = browser.get("/login?next=//evil.test").await;
    assert_eq!((led.status, led.header("location")), (StatusCode::SEE_OTHER, "/"));
    assert_eq!(browser.get("/login").await.status, StatusCode::OK);
}

#[tokio::test]
async fn logging_out_everywhere_ends_every_session() {
    let server = Server::start().await;
    let (desk, phone) = (Browser::new(&server).await, Browser::new(&server).await);
    assert!(desk.page("/settings").await.contains("2 sessions are open."));
    desk.submit("/logout/everywhere", "", "/login").await;
    for browser in [desk, phone] {
        assert_eq!(browser.get("/").await.status, StatusCode::SEE_OTHER);
    }
}

#[tokio::test]
async fn wrong_tokens_are_limited_and_lead_nowhere() {
    let server = Server::start().await;
    for _ in 0..10 {
        let answer = server.send(form("/login", "token=wrong&next=https://evil.test")).await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
        assert!(!answer.text.contains("evil"), "{}", answer.text);
    }
    let answer = server.send(form("/login", "token=wrong")).await;
    assert_eq!((answer.status, answer.header("retry-after")), (StatusCode::TOO_MANY_REQUESTS, "6"));
    server.log_in().await;
}

#[tokio::test]
async fn wrong_tokens_of_one_address_do_not_limit_another() {
    let server = Server::start().await;
    let guess = async |address: &str| {
        let mut request = form("/login", "token=wrong");
        request.extensions_mut().insert(web::Client::new(address.parse().unwrap()));
        server.send(request).await.status
    };
    for _ in 0..10 {
        guess("192.0.2.1").await;
    }
    assert_eq!(guess("192.0.2.1").await, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(guess("192.0.2.2").await, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_clock_that_is_set_back_does_not_prolong_the_limit() {
    let server = Server::start().await;
    for _ in 0..10 {
        server.send(form("/login", "token=wrong")).await;
    }
    server.web.clock.advance(-24 * 60 * 60 * 1000);
    let answer = server.send(form("/login", "token=wrong")).await;
    assert_eq!((answer.status, answer.header("retry-after")), (StatusCode::TOO_MANY_REQUESTS, "6"));
}

#[tokio::test]
async fn the_token_of_the_form_may_be_encoded_in_any_valid_way() {
    let server = Server::start().await;
    let encoded: String = TOKEN.bytes().map(|byte| format!("%{byte:02X}")).collect();
    for right in [format!("token={encoded}"), format!("token=+{TOKEN}%0D%0A"), format!("next=%2F&token={TOKEN}")] {
        assert_eq!(server.send(form("/login", &right)).await.status, StatusCode::SEE_OTHER, "{right}");
    }
    // Twice the field, no field, bytes that are no text, another case, a NUL at the end, more than
    // a form takes.
    let long = format!("token={}", "x".repeat(3 << 20));
    let upper = format!("token={}", TOKEN.to_uppercase());
    let (twice, nul) = (format!("token=a&token={TOKEN}"), format!("token={TOKEN}%00"));
    for wrong in [&twice, "", "token", "token=", "token=%ff%fe", "token=%zz", &nul, &upper, &long] {
        let status = server.send(form("/login", wrong)).await.status;
        assert!(status.is_client_error(), "{status} {wrong:.40}");
    }
}
