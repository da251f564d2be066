//! A server behind a reverse proxy that names the client.

use bytes::Bytes;
use http::{Method, Request};
use http_body_util::Full;

use crate::support::{Answer, Server, ServerBuilder, provider, run};

const FORWARD: [&str; 10] = [
    "--set",
    "auth.forward.user_header=Remote-User",
    "--set",
    "auth.forward.groups_header=Remote-Groups",
    "--set",
    "auth.forward.default_role=viewer",
    "--set",
    "auth.forward.roles=gazer-admins=admin",
    "--set",
    "auth.trusted_proxies=127.0.0.1",
];

async fn ask(server: &Server, method: Method, path: &str, headers: &[(&str, &str)]) -> Answer {
    let mut request = Request::builder().method(method).uri(format!("{}{path}", server.dashboard));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let body = Full::new(Bytes::from_static(b"{}"));
    server.http.send(request.header("content-type", "application/json").body(body).unwrap()).await.unwrap()
}

async fn status(server: &Server, headers: &[(&str, &str)]) -> u16 {
    ask(server, Method::GET, "/api/agents", headers).await.status.as_u16()
}

#[tokio::test]
async fn people_whom_a_trusted_proxy_names_have_the_role_of_their_groups() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).arguments(&FORWARD).start();
    let origin = ("origin", server.dashboard.as_str());
    let put =
        async |headers: &[(&str, &str)]| ask(&server, Method::PUT, "/api/settings", headers).await.status.as_u16();
    let (viewer, admin) = (("remote-user", "ada"), ("remote-groups", "staff, gazer-admins"));
    assert_eq!(status(&server, &[viewer]).await, 200);
    assert_eq!(put(&[viewer, origin]).await, 403, "a viewer changes nothing");
    assert_eq!(put(&[viewer, ("remote-groups", "gazer-admins-2"), origin]).await, 403);
    assert_ne!(put(&[viewer, admin, origin]).await, 403, "an admin may");
    assert_eq!(put(&[viewer, admin]).await, 403, "a change without an origin may come from another site");
    assert_eq!(put(&[viewer, admin, ("origin", "https://evil.test")]).await, 403);
}

#[tokio::test]
async fn forged_forward_auth_header_is_ignored() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).arguments(&FORWARD).start();
    assert_eq!(status(&server, &[]).await, 401);
    assert_eq!(status(&server, &[("remote-user", "")]).await, 401);
    assert_eq!(status(&server, &[("remote-user", "ada"), ("remote-user", "root")]).await, 401, "two names");
    assert_eq!(status(&server, &[("remote-user", "ada"), ("authorization", "Bearer wrong")]).await, 401);

    let elsewhere = [&FORWARD[..8], &["--set", "auth.trusted_proxies=10.0.0.0/8"]].concat();
    let server = ServerBuilder::new(&provider.url()).arguments(&elsewhere).start();
    for forged in [("x-forwarded-for", "10.0.0.1"), ("forwarded", "for=10.0.0.1"), ("x-real-ip", "10.0.0.1")] {
        let headers = [("remote-user", "ada"), ("remote-groups", "gazer-admins"), forged];
        assert_eq!(status(&server, &headers).await, 401, "{forged:?}");
    }

    let refused =
        run(&[&["start", "--port", "0", "--proxy-port", "0", "--data-dir", "/nowhere"], &FORWARD[..8]].concat());
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("auth.trusted_proxies must be set"), "{refused:?}");
    for everybody in ["0.0.0.0/0", "0.0.0.0/1,128.0.0.0/1", "::/1,8000::/1"] {
        let everybody = format!("auth.trusted_proxies={everybody}");
        let start = ["start", "--port", "0", "--proxy-port", "0", "--data-dir", "/nowhere", "--set", &everybody];
        let refused = run(&[&start[..], &FORWARD[..8]].concat());
        assert_eq!(refused.code, Some(2), "{refused:?}");
        assert!(refused.stderr.contains("must name the proxies and not all addresses"), "{refused:?}");
    }
}

#[tokio::test]
async fn wrong_tokens_are_limited_by_the_real_client() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).arguments(&["--set", "auth.trusted_proxies=127.0.0.0/8"]).start();
    let wrong = ("authorization", "Bearer wrong");
    for number in 0..10 {
        // A header that the client itself adds does not count.
        let hops = format!("198.51.100.{number}, 203.0.113.1");
        assert_eq!(status(&server, &[wrong, ("x-forwarded-for", &hops)]).await, 401);
    }
    assert_eq!(status(&server, &[wrong, ("x-forwarded-for", "198.51.100.77, 203.0.113.1")]).await, 429);
    assert_eq!(status(&server, &[wrong, ("x-forwarded-for", "203.0.113.2")]).await, 401, "another client");

    let login = ask(&server, Method::GET, "/login", &[("x-forwarded-proto", "https"), ("host", "localhost")]).await;
    assert_eq!(login.status, 200);
    let direct = ServerBuilder::new(&provider.url()).start();
    for number in 0..10 {
        let claimed = format!("203.0.113.{number}");
        assert_eq!(status(&direct, &[wrong, ("x-forwarded-for", &claimed)]).await, 401);
    }
    assert_eq!(status(&direct, &[wrong, ("x-forwarded-for", "203.0.113.99")]).await, 429, "nobody is trusted");
}
