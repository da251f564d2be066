//! What a server with TLS prints, serves and refuses.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::client::{authority_of, client_config, connect};
use super::{Certificates, authority};
use crate::support::{Http, Run, ServerBuilder, agentgazer, provider, run};

#[tokio::test]
async fn both_listeners_speak_tls_and_say_so() {
    let (provider, certificates) = (provider().await, Certificates::new());
    let server = certificates.server(&provider, &[]);
    assert!(server.proxy.starts_with("https://") && server.dashboard.starts_with("https://"), "{}", server.proxy);
    let banner = server.banner().await;
    assert!(banner.contains(&format!("{}/login", server.dashboard)), "{banner}");
    assert!(!banner.contains(&server.token), "a configured token is not printed: {banner}");
    assert_eq!(server.agent("a").ask("Why?").await.status, 200);
    assert_eq!(server.get("/api/agents").await["items"][0]["agent_id"], "a");
    assert_eq!(server.get("/api/status").await["public_url"], server.dashboard.as_str());
}

#[tokio::test]
async fn client_without_tls_gets_an_answer_that_names_https() {
    let (provider, certificates) = (provider().await, Certificates::new());
    let server = certificates.server(&provider, &[]);
    for url in [&server.proxy, &server.dashboard] {
        let mut stream = TcpStream::connect(authority_of(url)).await.unwrap();
        stream.write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
        stream.shutdown().await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(
            answer.starts_with("HTTP/1.1 400 ") && answer.ends_with("use https:// instead of http://.\n"),
            "{answer}"
        );
    }
}

#[tokio::test]
async fn cookies_are_for_tls_only_and_names_are_remembered() {
    let (provider, certificates) = (provider().await, Certificates::new());
    let server = certificates.server(&provider, &["--allow-host", "gazer.test"]);
    for (host, is_remembered) in [("gazer.test:18880", true), ("localhost:18880", false), ("127.0.0.1:1", false)] {
        let request = http::Request::post(format!("{}/login", server.dashboard))
            .header("host", host)
            .header("content-type", "application/x-www-form-urlencoded")
            .body(format!("token={}", server.token).into());
        let answer = server.http.send(request.unwrap()).await.unwrap();
        assert!(answer.header("set-cookie").ends_with("; Secure"), "{:?}", answer.headers);
        assert_eq!(answer.header("strict-transport-security") == "max-age=31536000", is_remembered, "{host}");
    }
    let plain = ServerBuilder::new(&provider.url()).start();
    let answer = plain.http.json(http::Method::GET, &format!("{}/login", plain.dashboard), None, None).await.unwrap();
    assert_eq!(answer.header("strict-transport-security"), "");
}

#[tokio::test]
async fn versions_below_1_2_are_refused() {
    let (provider, certificates) = (provider().await, Certificates::new());
    let server = certificates.server(&provider, &[]);
    for (version, is_spoken) in [("-tls1_2", true), ("-tls1_3", true), ("-tls1_1", false)] {
        let ended = Command::new("openssl")
            .args(["s_client", version, "-verify_return_error", "-cipher", "ALL:@SECLEVEL=0", "-CAfile"])
            .arg(authority(&certificates))
            .args(["-connect", authority_of(&server.proxy)])
            .stdin(std::process::Stdio::null())
            .output();
        assert_eq!(ended.unwrap().status.success(), is_spoken, "{version}");
    }
}

#[tokio::test]
async fn only_agents_with_a_certificate_call_if_that_is_asked_for() {
    let (provider, certificates, others) = (provider().await, Certificates::new(), Certificates::new());
    let client_ca = format!("tls.client_ca={}", authority(&certificates));
    let server = certificates.server(&provider, &["--set", &client_ca]);
    let refused = server.agent("a").try_chat(&crate::support::openai_request("Why?")).await;
    assert!(refused.is_err(), "without a certificate: {refused:?}");

    // A certificate of an authority that the server does not know, and none.
    for (trusted, shows_certificate) in [(&[&others, &certificates][..], true), (&[&certificates], false)] {
        for _ in 0..10 {
            let mut stream =
                connect(&server.proxy, client_config(trusted, shows_certificate), "http/1.1").await.unwrap();
            // In TLS 1.3 the client finishes first, and learns of the refusal when it reads.
            let _ = stream.write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
            let refused = stream.read(&mut [0; 16]).await.unwrap_err().to_string();
            assert!(refused.contains("received fatal alert"), "{refused}");
        }
    }
    assert_eq!(crate::support::requests(&provider), 0);

    server.get("/api/agents").await;
    let known = Http::with_tls(client_config(&[&certificates], true));
    let agent = crate::support::Agent::new("a", &server.proxy, known);
    assert_eq!(agent.ask("Why?").await.status, 200, "with a certificate");
}

#[test]
fn a_handshake_that_does_not_end_is_not_waited_for() {
    let certificates = Certificates::new();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let provider = provider().await;
        let server = certificates.server(&provider, &["--set", "limits.header_timeout=200ms"]);
        // The beginning of a record that announces more than comes, and no byte at all.
        for begin in [&[0x16, 3, 1, 2, 0, 1][..], &[]] {
            let mut stream = TcpStream::connect(authority_of(&server.proxy)).await.unwrap();
            stream.write_all(begin).await.unwrap();
            let mut answer = Vec::new();
            let _ = stream.read_to_end(&mut answer).await;
        }
        // The handshake is complete, and no request comes.
        let mut stream = connect(&server.proxy, client_config(&[&certificates], false), "h2").await.unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        assert_eq!(server.agent("a").ask("Why?").await.status, 200);
    });
}

/// Runs a server that must fail to start.
fn refused(certificates: &Certificates, settings: &[(&str, &str)]) -> Run {
    let folder = tempfile::tempdir().unwrap();
    let mut command = agentgazer();
    command.args(["start", "--port", "0", "--proxy-port", "0", "--data-dir"]).arg(folder.path().join("data"));
    for (key, name) in settings {
        command.args(["--set", &format!("tls.{key}={}", certificates.file(name).display())]);
    }
    let run: Run = command.output().unwrap().into();
    assert_eq!(run.code, Some(2), "{run:?}");
    run
}

#[test]
fn unusable_files_are_reported_with_their_setting() {
    let certificates = Certificates::new();
    let encrypted = "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n";
    std::fs::write(certificates.file("encrypted.pem"), encrypted).unwrap();
    std::fs::write(certificates.file("empty.pem"), "").unwrap();
    let certificate = ("certificate", "certificate.pem");
    for (settings, told) in [
        (&[certificate][..], "tls.key must be set: TLS needs both"),
        (&[("key", "key.pem")], "tls.certificate must be set: TLS needs both"),
        (&[("client_ca", "ca.pem")], "tls.certificate must be set: client certificates"),
        (&[("certificate", "none.pem"), ("key", "key.pem")], "tls.certificate cannot be read (No such file"),
        (&[("certificate", "empty.pem"), ("key", "key.pem")], "tls.certificate must hold a certificate in PEM"),
        (&[certificate, ("key", "empty.pem")], "tls.key must hold a private key in PEM"),
        (&[certificate, ("key", "encrypted.pem")], "tls.key must be a key without a passphrase"),
        (&[certificate, ("key", "client.key.pem")], "tls.key does not belong to the certificate"),
        (&[certificate, ("key", "key.pem"), ("client_ca", "key.pem")], "tls.client_ca must hold a certificate"),
    ] {
        let run = refused(&certificates, settings);
        assert!(run.stderr.contains(told), "{told}: {}", run.stderr);
    }
}

#[test]
fn certificates_for_trying_are_private_and_not_overwritten() {
    let certificates = Certificates::new();
    for name in ["ca.pem", "certificate.pem", "key.pem", "client.pem", "client.key.pem"] {
        let mode = std::fs::metadata(certificates.file(name)).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{name}");
    }
    assert_eq!(std::fs::metadata(certificates.folder()).unwrap().permissions().mode() & 0o777, 0o700);
    let again = run(&["tls", "dev", "--out", certificates.folder().to_str().unwrap()]);
    assert!(again.code == Some(5) && again.stderr.contains("delete it to make new ones"), "{again:?}");
}
