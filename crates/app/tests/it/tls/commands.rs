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
