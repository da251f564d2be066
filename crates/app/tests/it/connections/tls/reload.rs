//! A certificate that is replaced while the server runs.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Certificates;
use super::client::{client_config, connect};
use crate::support::{Agent, Http, Server, eventually, provider};

/// Replaces a file atomically, as tools that renew certificates do.
fn replace(from: &Path, to: &Path) {
    let fresh = to.with_extension("new");
    std::fs::copy(from, &fresh).unwrap();
    std::fs::rename(fresh, to).unwrap();
}

/// The certificate that the server presents.
async fn shown(server: &Server, trusted: &[&Certificates]) -> Vec<u8> {
    let stream = connect(&server.proxy, client_config(trusted, false), "http/1.1").await.unwrap();
    stream.get_ref().1.peer_certificates().unwrap()[0].to_vec()
}

async fn warnings(server: &Server) -> String {
    server.get("/readyz").await["warnings"].to_string()
}

#[tokio::test]
async fn a_new_certificate_is_used_without_a_failed_call() {
    let (provider, first, second) = (provider().await, Certificates::new(), Certificates::new());
    let server = first.server(&provider, &[]);
    let before = shown(&server, &[&first]).await;
    let (proxy, done) = (server.proxy.clone(), Arc::new(AtomicBool::new(false)));
    let config = client_config(&[&first, &second], false);
    let calls = tokio::spawn({
        let done = Arc::clone(&done);
        async move {
            let mut calls = 0;
            while !done.load(Ordering::Relaxed) {
                // A new client each time, so that each call begins with a handshake.
                let agent = Agent::new("steady", &proxy, Http::with_tls(config.clone()));
                assert_eq!(agent.ask(&format!("Question {calls}?")).await.status, 200);
                calls += 1;
            }
            calls
        }
    });
    for name in ["certificate.pem", "key.pem"] {
        replace(&second.file(name), &first.file(name));
    }
    eventually("the new certificate is shown", async || {
        (shown(&server, &[&first, &second]).await != before).then_some(())
    })
    .await;
    done.store(true, Ordering::Relaxed);
    assert!(calls.await.unwrap() > 0);
}

#[tokio::test]
async fn broken_certificate_pair_keeps_the_old_one_and_warns() {
    let (provider, first, second) = (provider().await, Certificates::new(), Certificates::new());
    let server = first.server(&provider, &[]);
    let before = shown(&server, &[&first]).await;
    let old_key = std::fs::read(first.file("key.pem")).unwrap();
    replace(&second.file("key.pem"), &first.file("key.pem"));
    server.signal("HUP");
    let told = eventually("readiness tells it", async || {
        Some(warnings(&server).await).filter(|warnings| warnings.contains("tls.key does not belong"))
    })
    .await;
    assert!(!told.contains("key.pem"), "no paths for everybody: {told}");
    assert!(server.log().contains("key.pem"), "{}", server.log());
    assert_eq!(shown(&server, &[&first]).await, before);

    std::fs::write(first.file("key.pem"), old_key).unwrap();
    eventually("all is well again", async || (!warnings(&server).await.contains("tls")).then_some(())).await;
}
