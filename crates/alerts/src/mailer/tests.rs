#![allow(clippy::unwrap_used, clippy::expect_used)]
//! Mail through a small real server: it speaks SMTP over sockets, unencrypted, with STARTTLS and
//! over TLS.

mod server;

use self::server::{Behaviour, SmtpServer};
use super::*;
use crate::message::tests::{digest, killed};

fn config(server: &SmtpServer, security: SmtpSecurity) -> SmtpConfig {
    SmtpConfig {
        host: "localhost".to_owned(),
        port: Some(server.port),
        security,
        credentials: None,
        from: "AgentGazer <gazer@example.com>".parse().unwrap(),
        certificate: Some(server.certificate.clone().into_bytes()),
    }
}

fn to(addresses: &[&str]) -> Vec<String> {
    addresses.iter().map(|address| address.to_string()).collect()
}

async fn send(config: SmtpConfig, message: &Message) -> Mailed {
    Mailer::new(config).send(&to(&["ops@example.com", "dev@example.com"]), message).await
}

#[tokio::test]
async fn mail_has_two_parts_and_is_marked_as_automatic() {
    let mut server = SmtpServer::start(Behaviour::default()).await;
    let sent = send(config(&server, SmtpSecurity::None), &killed("gpt-4o <b> & co")).await;
    assert!(matches!(&sent, Mailed::Accepted(250, said) if said.contains("queued")), "{sent:?}");
    let mail = server.next().await;
    assert_eq!(mail.from, "gazer@example.com");
    assert_eq!(mail.to, ["ops@example.com", "dev@example.com"]);
    assert!(!mail.encrypted);
    for expected in [
        "From: AgentGazer <gazer@example.com>",
        "Subject: [AgentGazer] my-agent was stopped: loop score 13.0, threshold 10.0",
        "Message-ID: <01a1e113-0000-7000-8000-000000000001@example.com>",
        "Auto-Submitted: auto-generated",
        "Content-Type: text/plain",
        "Content-Type: text/html",
        "multipart/alternative",
        "gpt-4o &lt;b&gt; &amp; co",
        "Switch it on again: agentgazer activate my-agent",
    ] {
        assert!(mail.data.contains(expected), "{expected}: {}", mail.data);
    }
}

#[tokio::test]
async fn a_mail_goes_encrypted_and_with_credentials() {
    for (security, behaviour) in [
        (SmtpSecurity::StartTls, Behaviour { starttls: true, login: Some("gazer:pass word"), ..Behaviour::default() }),
        (SmtpSecurity::Tls, Behaviour { tls: true, login: Some("gazer:pass word"), ..Behaviour::default() }),
    ] {
        let mut server = SmtpServer::start(behaviour).await;
        let credentials = Some(("gazer".to_owned(), "pass word".into()));
        let sent = send(SmtpConfig { credentials, ..config(&server, security) }, &killed("m")).await;
        assert!(matches!(sent, Mailed::Accepted(250, _)), "{security:?}: {sent:?}");
        assert!(server.next().await.encrypted);

        let wrong = SmtpConfig { credentials: Some(("gazer".to_owned(), "no".into())), ..config(&server, security) };
        let refused = send(wrong, &killed("m")).await;
        assert!(matches!(&refused, Mailed::Rejected(Some(535), _)), "{refused:?}");
        assert!(!format!("{refused:?}").contains("pass word"));

        let untrusted = SmtpConfig { certificate: None, ..config(&server, security) };
        assert!(matches!(send(untrusted, &killed("m")).await, Mailed::Failed(None, _)), "{security:?}");
    }
}

#[tokio::test]
async fn a_server_without_starttls_gets_no_mail_in_the_clear() {
    let mut server = SmtpServer::start(Behaviour::default()).await;
    let sent = send(config(&server, SmtpSecurity::StartTls), &killed("m")).await;
    assert!(!matches!(sent, Mailed::Accepted(..)), "{sent:?}");
    assert!(server.got_nothing());
}

#[tokio::test]
async fn permanent_refusals_differ_from_temporary_ones() {
    for (reply, lasting) in [("550 no such user here", true), ("451 try again later", false)] {
        let server = SmtpServer::start(Behaviour { recipient: reply, ..Behaviour::default() }).await;
        let sent = send(config(&server, SmtpSecurity::None), &killed("m")).await;
        let said = format!("{sent:?}");
        assert!(said.contains(&reply[4..]), "{said}");
        assert_eq!(matches!(sent, Mailed::Rejected(Some(550), _)), lasting, "{said}");
        assert_eq!(matches!(sent, Mailed::Failed(Some(451), _)), !lasting, "{said}");
    }
}

#[tokio::test]
async fn a_server_that_is_down_is_tried_again_later() {
    let server = SmtpServer::start(Behaviour::default()).await;
    let config = config(&server, SmtpSecurity::None);
    drop(server);
    let sent = send(config, &killed("m")).await;
    assert!(matches!(sent, Mailed::Failed(None, _)), "{sent:?}");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_falls_silent_is_given_up_in_time() {
    let server = SmtpServer::start(Behaviour { silent: true, ..Behaviour::default() }).await;
    let sent = send(config(&server, SmtpSecurity::None), &killed("m")).await;
    assert!(matches!(sent, Mailed::Failed(None, _)), "{sent:?}");
}

#[tokio::test]
async fn nothing_in_an_address_or_a_name_ends_a_header() {
    let mut server = SmtpServer::start(Behaviour::default()).await;
    let mailer = Mailer::new(config(&server, SmtpSecurity::None));
    for bad in ["a@x\r\nBcc: victim@example.com", "a@x>\r\nRCPT TO:<victim@example.com", "a b@x", ""] {
        let sent = mailer.send(&to(&[bad]), &killed("m")).await;
        assert!(matches!(sent, Mailed::Rejected(None, _)), "{bad:?}: {sent:?}");
    }
    assert!(server.got_nothing());
    assert!("x\r\nBcc: victim@example.com <a@x>".parse::<Mailbox>().is_err());

    mailer.send(&to(&["ops@example.com"]), &digest(2, "evil\r\nBcc: victim@example.com")).await;
    let mail = server.next().await;
    let head = mail.data.split("\r\n\r\n").next().unwrap();
    assert!(!head.contains("Bcc"), "{head}");
    assert_eq!(mail.to, ["ops@example.com"]);
}
