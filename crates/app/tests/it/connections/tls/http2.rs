//! HTTP/2 for agents and for the dashboard.

use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use fake_provider::{Behaviour, FakeProvider, Fault};
use http_body_util::BodyExt;
use serde_json::json;

use super::client::{Http2, text, whole};
use super::{Certificates, authority};
use crate::support::{eventually, openai_request, provider, slow_provider};

const WINDOW: u32 = 1 << 20;

#[tokio::test]
async fn an_agent_calls_over_http2() {
    let (provider, certificates) = (provider().await, Certificates::new());
    let server = certificates.server(&provider, &[]);
    let mut connection = Http2::connect(&server.proxy, &certificates, WINDOW).await;
    let response = connection.chat("a", &openai_request("Why?")).await.unwrap();
    assert_eq!((response.status().as_u16(), response.version()), (200, http::Version::HTTP_2));
    assert!(response.headers().contains_key("x-agentgazer-request-id"));
    assert!(text(response).await.contains("The import fails"));
    let seen = provider.seen().last().unwrap();
    assert_eq!(seen.headers["host"], provider.url().trim_start_matches("http://"), "{:?}", seen.headers);

    let other = connection.request("GET", "/agents/a/openai/v1/models").header("host", "evil.test");
    let refused = connection.send(other.body(whole("")).unwrap()).await.unwrap();
    assert_eq!(refused.status(), 421, "another host is refused, over HTTP/2 too");
}

#[tokio::test]
async fn many_calls_share_a_connection() {
    let (provider, certificates) = (slow_provider().await, Certificates::new());
    // Fewer permits than calls: the others wait.
    let server = certificates.server(&provider, &["--set", "limits.max_connections=3"]);
    let connection = Http2::connect(&server.proxy, &certificates, WINDOW).await;
    let calls = (0..8).map(|number| {
        let request = connection.request("POST", &format!("/agents/a{number}/openai/v1/chat/completions"));
        let request = request.body(whole(&openai_request("Why?").to_string())).unwrap();
        let mut sender = connection.sender.clone();
        tokio::spawn(async move { text(sender.send_request(request).await.unwrap()).await })
    });
    for call in calls.collect::<Vec<_>>() {
        assert!(call.await.unwrap().contains("It takes its time."));
    }
}

#[tokio::test]
async fn a_stream_arrives_piece_by_piece_and_ends_with_its_client() {
    let endless =
        Behaviour { chunks: 100_000, delay: Duration::from_millis(1), ..Behaviour::text(&"word ".repeat(100_000)) };
    let (provider, certificates) = (FakeProvider::start(0, endless).await.unwrap(), Certificates::new());
    let server = certificates.server(&provider, &[]);
    let mut connection = Http2::connect(&server.proxy, &certificates, WINDOW).await;
    let mut body = openai_request("Why?");
    body["stream"] = json!(true);
    let mut response = connection.chat("a", &body).await.unwrap();
    let first = response.body_mut().frame().await.unwrap().unwrap().into_data().unwrap();
    assert!(first.starts_with(b"data: "), "{first:?}");
    // Dropping it resets this stream only.
    drop(response);
    provider.seen().wait_for(|counts| counts.cancelled == 1).await;
    let models = connection.request("GET", "/agents/a/openai/v1/models").body(whole("")).unwrap();
    assert_eq!(connection.send(models).await.unwrap().status(), 200, "the connection goes on");
}

#[tokio::test]
async fn the_event_stream_of_the_dashboard_works_over_http2() {
    let (provider, certificates) = (provider().await, Certificates::new());
    let server = certificates.server(&provider, &[]);
    let mut connection = Http2::connect(&server.dashboard, &certificates, WINDOW).await;
    let bearer = format!("Bearer {}", server.token);
    let request = connection.request("GET", "/api/stream").header("authorization", &bearer);
    let mut events = connection.send(request.body(whole("")).unwrap()).await.unwrap();
    assert_eq!(events.status(), 200);
    assert_eq!(server.agent("watched").ask("Why?").await.status, 200);
    let mut seen = String::new();
    while !seen.contains("watched") {
        let frame = events.body_mut().frame().await.unwrap().unwrap();
        seen.push_str(&String::from_utf8_lossy(frame.data_ref().unwrap()));
    }
}

#[tokio::test]
async fn calls_in_flight_finish_when_the_server_stops() {
    let (provider, certificates) = (slow_provider().await, Certificates::new());
    let server = certificates.server(&provider, &[]);
    let mut connection = Http2::connect(&server.proxy, &certificates, WINDOW).await;
    let body = openai_request("Why?");
    let call = tokio::spawn(async move { (text(connection.chat("a", &body).await.unwrap()).await, connection) });
    provider.seen().wait_for(|counts| counts.requests == 1).await;
    let stopping = tokio::task::spawn_blocking(move || server.terminate().1);
    let (answer, connection) = call.await.unwrap();
    assert!(answer.contains("It takes its time."), "{answer}");
    connection.ended.await.unwrap().unwrap();
    assert!(stopping.await.unwrap().success());
}

#[tokio::test]
async fn a_client_that_is_gone_ends_its_calls() {
    let provider = FakeProvider::start(0, Behaviour::fault(Fault::Stall)).await.unwrap();
    let certificates = Arc::new(Certificates::new());
    let server = certificates.server(&provider, &[]);
    // A separate runtime: dropping it ends everything of the client.
    let client = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let proxy = server.proxy.clone();
    client.spawn(async move {
        let mut connection = Http2::connect(&proxy, &certificates, WINDOW).await;
        connection.chat("a", &openai_request("Why?")).await.map(drop)
    });
    provider.seen().wait_for(|counts| counts.requests == 1).await;
    client.shutdown_background();
    eventually("the call is recorded", async || {
        let events = server.get("/api/events?agent=a").await;
        events["items"].as_array().unwrap().first().cloned()
    })
    .await;
}

#[tokio::test]
async fn curl_speaks_http2_to_both() {
    let (provider, certificates) = (provider().await, Certificates::new());
    let server = certificates.server(&provider, &[]);
    for url in [format!("{}/agents/a/openai/v1/models", server.proxy), format!("{}/healthz", server.dashboard)] {
        for (flag, version) in [("--http2", "200 2"), ("--http1.1", "200 1.1")] {
            let mut curl = Command::new("curl");
            curl.args(["-sS", flag, "-o", "/dev/null", "-w", "%{http_code} %{http_version}", "--cacert"]);
            curl.args([&authority(&certificates), &url]);
            // The provider answers on this thread.
            let said = tokio::task::spawn_blocking(move || curl.output().unwrap()).await.unwrap();
            assert_eq!(String::from_utf8_lossy(&said.stdout), version, "{url}: {said:?}");
        }
    }
}
