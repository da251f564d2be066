//! Commands that talk to a server with TLS.

use super::{Certificates, authority};
use crate::support::{provider, run};

#[tokio::test]
async fn commands_trust_the_certificate_that_the_data_directory_names() {
    let (provider, certificates) = (provider().await, Certificates::new());
    let server = certificates.server(&provider, &[]);
    assert_eq!(server.agent("a").ask("Why?").await.status, 200);
    assert!(server.run(&["agents"]).said().contains('a'));
    let drill = server.run(&["drill"]);
    assert!(drill.stdout.contains("stopped") || drill.stdout.contains("killed"), "{drill:?}");
}

#[tokio::test]
async fn commands_with_an_address_trust_the_authorities_they_are_given() {
    let (provider, certificates, others) = (provider().await, Certificates::new(), Certificates::new());
    let server = certificates.server(&provider, &[]);
    let with = |more: &[&str]| {
        let given = ["agents", "--url", &server.dashboard, "--token", &server.token];
        run(&[&given, more].concat())
    };
    let unknown = with(&[]);
    assert_eq!(unknown.code, Some(3), "{unknown:?}");
    assert_eq!(with(&["--ca", &authority(&others)]).code, Some(3));
    assert_eq!(with(&["--ca", &authority(&certificates)]).code, Some(0));
    let missing = with(&["--ca", "/nowhere/ca.pem"]);
    assert!(missing.code == Some(2) && missing.stderr.contains("/nowhere/ca.pem cannot be read"), "{missing:?}");
}

#[tokio::test]
async fn drill_shows_the_certificate_that_the_proxy_asks_for() {
    let (provider, certificates) = (provider().await, Certificates::new());
    let client_ca = format!("tls.client_ca={}", authority(&certificates));
    let server = certificates.server(&provider, &["--set", &client_ca]);
    let without = server.run(&["drill"]);
    assert_eq!(without.code, Some(3), "{without:?}");
    assert!(without.stderr.contains("agentgazer drill --client-cert FILE --client-key FILE"), "{without:?}");
    let [certificate, key] = ["client.pem", "client.key.pem"].map(|name| certificates.file(name));
    let with = |key: &std::path::Path| {
        server.run(&["drill", "--client-cert", certificate.to_str().unwrap(), "--client-key", key.to_str().unwrap()])
    };
    let drill = with(&key);
    assert!(drill.stdout.contains("killed"), "{drill:?}");
    let wrong = with(&certificates.file("key.pem"));
    assert!(wrong.code == Some(2) && wrong.stderr.contains("must be the key of"), "{wrong:?}");
    assert_eq!(server.get("/api/agent-keys").await["items"], serde_json::json!([]), "nothing is left of it");
}
