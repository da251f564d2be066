//! Mail through the configured SMTP server: a text and an HTML part, the same message id on every
//! attempt.

use std::net::IpAddr;
use std::time::{Duration, SystemTime};

use lettre::message::header::{HeaderName, HeaderValue};
use lettre::message::{Mailbox, MultiPart};
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Certificate, CertificateStore, Tls, TlsParameters};
use lettre::transport::smtp::extension::ClientId;
use lettre::{AsyncSmtpTransport, AsyncTransport, Message as Mail, Tokio1Executor};
use model::{SmtpSecurity, SmtpServer};
use secrecy::{ExposeSecret, SecretString};

use crate::message::Message;

/// How long one step of the conversation with the server may take, and the whole of it.
const STEP_TIMEOUT: Duration = Duration::from_secs(15);
const TIMEOUT: Duration = Duration::from_secs(45);

/// An SMTP server.
#[derive(Clone, Debug)]
pub struct SmtpConfig {
    /// Its name.
    pub host: String,
    /// Its port; `None` for the default one.
    pub port: Option<u16>,
    /// How the connection is protected.
    pub security: SmtpSecurity,
    /// User name and password.
    pub credentials: Option<(String, SecretString)>,
    /// The sender.
    pub from: Mailbox,
    /// A certificate to trust besides the machine's, as PEM.
    pub certificate: Option<Vec<u8>>,
}

impl SmtpConfig {
    /// The server that people have set, with the certificate that the configuration trusts; `None`
    /// if its sender is not an address.
    pub(crate) fn new(server: SmtpServer, certificate: Option<Vec<u8>>) -> Option<SmtpConfig> {
        Some(SmtpConfig {
            from: server.from.parse().ok()?,
            host: server.host,
            port: server.port,
            security: server.security,
            credentials: server.username.zip(server.password),
            certificate,
        })
    }
}

/// The outcome of a mail.
#[derive(Debug)]
pub(crate) enum Mailed {
    /// The server accepted it, with this answer.
    Accepted(u16, String),
    /// The server will never accept it.
    Rejected(Option<u16>, String),
    /// It failed; a retry may succeed.
    Failed(Option<u16>, String),
}

/// Sends mails.
#[derive(Debug)]
pub(crate) struct Mailer {
    config: SmtpConfig,
    /// The address to connect to instead of resolving the host.
    address: Option<IpAddr>,
}

impl Mailer {
    pub(crate) fn new(config: SmtpConfig) -> Mailer {
        Mailer { config, address: None }
    }

    /// A mailer that connects to `address`, which was checked: the host may resolve differently by
    /// now.
    pub(crate) fn at(config: SmtpConfig, address: IpAddr) -> Mailer {
        Mailer { config, address: Some(address) }
    }

    /// Mails `message` to all of `to`.
    pub(crate) async fn send(&self, to: &[String], message: &Message) -> Mailed {
        let (mail, transport) = match (self.mail(to, message), self.transport()) {
            (Ok(mail), Ok(transport)) => (mail, transport),
            (Err(error), _) => return Mailed::Rejected(None, format!("the mail could not be made: {error}")),
            (_, Err(error)) => return Mailed::Failed(None, format!("no encrypted connection can be made: {error}")),
        };
        match tokio::time::timeout(TIMEOUT, transport.send(mail)).await {
            Err(_) => Mailed::Failed(None, format!("the mail server took longer than {} seconds", TIMEOUT.as_secs())),
            Ok(Ok(response)) => {
                let said: Vec<_> = response.message().collect();
                Mailed::Accepted(response.code().into(), said.join(" "))
            }
            Ok(Err(error)) => {
                let status = error.status().map(u16::from);
                let said = error_chain(&error);
                if error.is_permanent() { Mailed::Rejected(status, said) } else { Mailed::Failed(status, said) }
            }
        }
    }

    fn transport(&self) -> anyhow::Result<AsyncSmtpTransport<Tokio1Executor>> {
        let SmtpConfig { host, security, .. } = &self.config;
        let tls = match security {
            SmtpSecurity::None => Tls::None,
            SmtpSecurity::StartTls => Tls::Required(self.tls()?),
            SmtpSecurity::Tls => Tls::Wrapper(self.tls()?),
        };
        let address = self.address.map_or_else(|| host.clone(), |address| address.to_string());
        let mut builder = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(address)
            .port(self.config.port.unwrap_or(security.port()))
            .tls(tls)
            .hello_name(ClientId::Domain("agentgazer".to_owned()))
            .timeout(Some(STEP_TIMEOUT));
        if let Some((user, password)) = &self.config.credentials {
            builder = builder.credentials(Credentials::new(user.clone(), password.expose_secret().to_owned()));
        }
        Ok(builder.build())
    }

    fn tls(&self) -> anyhow::Result<TlsParameters> {
        let mut builder = TlsParameters::builder(self.config.host.clone());
        if let Some(certificate) = &self.config.certificate {
            builder = builder.add_root_certificate(Certificate::from_pem(certificate)?);
        }
        // A machine without its own certificates, such as a bare container image, trusts Mozilla's.
        let native = builder.clone().build_rustls();
        Ok(match native {
            Ok(native) => native,
            Err(_) => builder.certificate_store(CertificateStore::WebpkiRoots).build_rustls()?,
        })
    }

    fn mail(&self, to: &[String], message: &Message) -> anyhow::Result<Mail> {
        let from = &self.config.from;
        let id = format!("<{}@{}>", message.id, from.email.domain());
        let sent = SystemTime::UNIX_EPOCH + Duration::from_millis(message.at.as_millis().max(0).unsigned_abs());
        let automatic = HeaderName::new_from_ascii_str("Auto-Submitted");
        let mut mail = Mail::builder()
            .from(from.clone())
            .date(sent)
            .message_id(Some(id))
            .subject(format!("[AgentGazer] {}", message.title()))
            .raw_header(HeaderValue::new(automatic, "auto-generated".to_owned()));
        for address in to {
            mail = mail.to(Mailbox::new(None, address.parse()?));
        }
        Ok(mail.multipart(MultiPart::alternative_plain_html(text(message), html(message)))?)
    }
}

/// The error and its causes in one line.
fn error_chain(error: &lettre::transport::smtp::Error) -> String {
    let mut words = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(source) = cause {
        let said = source.to_string();
        if !words.contains(&said) {
            words.push_str(&format!(": {said}"));
        }
        cause = source.source();
    }
    words
}

fn text(message: &Message) -> String {
    let (lines, more) = message.lines();
    let mut text = format!("{}\n\n", message.title());
    for (name, value) in message.facts() {
        text.push_str(&format!("{name}: {value}\n"));
    }
    lines.iter().for_each(|line| text.push_str(&format!("- {line}\n")));
    if more > 0 {
        text.push_str(&format!("… and {more} more\n"));
    }
    text.push_str(&format!("\n{}\n", message.link()));
    text
}

fn html(message: &Message) -> String {
    let (lines, more) = message.lines();
    let facts = message.facts();
    let facts: String = facts
        .iter()
        .map(|(name, value)| format!("<tr><th align=\"left\">{name}</th><td>{}</td></tr>", escaped(value)))
        .collect();
    let lines: String = lines.iter().map(|line| format!("<li>{}</li>", escaped(line))).collect();
    let more = if more > 0 { format!("<p>… and {more} more</p>") } else { String::new() };
    let (title, link) = (escaped(&message.title()), escaped(&message.link()));
    format!(
        "<!doctype html><html><body><p><strong>{title}</strong></p><table>{facts}</table><ul>{lines}</ul>{more}\
         <p><a href=\"{link}\">Open in AgentGazer</a></p></body></html>"
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests;
