//! Commands that change something: a mistake changes nothing.

use http::Method;
use serde_json::json;

use crate::support::{Http, ServerBuilder, agentgazer, provider, run};

#[tokio::test]
async fn mistyped_agent_name_creates_nothing_unless_it_is_meant() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    server.agent("import-fixer").ask("What does the first page say?").await;
    for command in [&["kill-switch", "imort-fixer", "on"][..], &["policy", "imort-fixer", "--budget-daily", "5"][..]] {
        let refused = server.run(command);
        assert_eq!(refused.code, Some(4), "{refused:?}");
        assert!(
            refused.stderr.contains(r#"is it "import-fixer"?"#) && refused.stderr.contains("--create"),
            "{refused:?}"
        );
    }
    assert_eq!(server.get("/api/agents").await["items"].as_array().map(Vec::len), Some(1));

    assert!(server.run(&["kill-switch", "import-fixer", "on"]).said().contains("kill switch on"));
    assert!(server.run(&["kill-switch", "new-one", "on", "--create"]).said().contains("kill switch on"));
    assert_eq!(server.get("/api/agents").await["items"].as_array().map(Vec::len), Some(2));
}

#[tokio::test]
async fn channels_are_added_changed_and_deleted() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    let added = server.run(&["alerts", "add", "webhook", "ops", "--address", "https://1.1.1.1/hook"]);
    assert!(added.said().contains("ops") && added.said().contains("whsec_"), "{added:?}");
    let changed = server.run(&["alerts", "change", "ops", "off", "--name", "night", "--json"]).json();
    assert_eq!((&changed["name"], &changed["enabled"]), (&json!("night"), &json!(false)));

    let refused = server.run(&["alerts", "add", "webhook", "other"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("url"), "{refused:?}");
    assert_eq!(server.run(&["alerts", "change", "night"]).code, Some(2), "nothing to change");
    assert_eq!(server.run(&["alerts", "delete", "ops"]).code, Some(4));
    server.run(&["alerts", "delete", "night"]).said();
    assert_eq!(server.get("/api/channels").await["items"], json!([]));
}

#[tokio::test]
async fn client_at_the_dashboards_port_gets_the_address_of_the_proxy() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    let url = format!("{}/agents/lost/openai/v1/chat/completions", server.dashboard);
    let request = http::Request::post(url)
        .header("content-type", "application/json")
        .header("authorization", "Bearer sk-provider-key")
        .body(json!({"model": "m", "messages": []}).to_string().into())
        .unwrap();
    let answer = Http::new().send(request).await.unwrap();
    assert_eq!(answer.status, 404);
    let body: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
    let message = body["error"]["message"].as_str().unwrap();
    assert!(message.contains(&format!("{}/agents/lost/openai/v1/chat/completions", server.proxy)), "{message}");
    assert_eq!(server.try_api(Method::GET, "/api/agents/lost", None).await.unwrap().status, 404, "no agent was made");
}

#[tokio::test]
async fn server_behind_https_is_reached() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    let folder = tempfile::tempdir().unwrap();
    let certificate = folder.path().join("certificate.pem");
    let url = tls::forward_to(&server.dashboard, &certificate).await;
    let list = |trusted: bool| {
        let mut command = agentgazer();
        command.args(["agents", "--json", "--url", &url, "--token", &server.token]);
        if trusted {
            command.env("SSL_CERT_FILE", &certificate);
        }
        async move { tokio::task::spawn_blocking(move || command.output()).await.unwrap().unwrap() }
    };
    let output = list(true).await;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(list(false).await.status.code(), Some(3), "an unknown certificate is not trusted");
}

#[test]
fn unwritable_data_directory_is_named() {
    let refused = run(&["start", "--port", "0", "--proxy-port", "0", "--data-dir", "/proc/agentgazer"]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("the data directory /proc/agentgazer"), "{refused:?}");
}

/// A reverse proxy with TLS in front of a dashboard.
mod tls {
    use std::path::Path;
    use std::sync::Arc;

    use tokio::net::{TcpListener, TcpStream};
    use tokio_rustls::TlsAcceptor;
    use tokio_rustls::rustls::ServerConfig;
    use tokio_rustls::rustls::crypto::aws_lc_rs;
    use tokio_rustls::rustls::pki_types::PrivateKeyDer;

    /// Starts it and returns its address; writes its authority to `certificate`.
    pub(super) async fn forward_to(dashboard: &str, certificate: &Path) -> String {
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        std::fs::write(certificate, made.cert.pem()).unwrap();
        let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let target = dashboard.trim_start_matches("http://").to_owned();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, target) = (acceptor.clone(), target.clone());
                tokio::spawn(async move {
                    let mut client = acceptor.accept(stream).await?;
                    let mut server = TcpStream::connect(target).await?;
                    tokio::io::copy_bidirectional(&mut client, &mut server).await
                });
            }
        });
        format!("https://localhost:{port}")
    }
}
