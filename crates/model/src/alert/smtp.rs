//! The SMTP server for alerts by mail, set by people or by the configuration.

use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};

use super::channel::is_mail_address;
use crate::FieldError;

/// How the connection to the SMTP server is protected.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, strum::EnumString, strum::IntoStaticStr,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum SmtpSecurity {
    /// Not encrypted.
    None,
    /// Encrypted after a greeting in the clear.
    #[default]
    StartTls,
    /// Encrypted from the start.
    Tls,
}

impl SmtpSecurity {
    /// All of them.
    pub const ALL: [SmtpSecurity; 3] = [SmtpSecurity::StartTls, SmtpSecurity::Tls, SmtpSecurity::None];

    /// Its name in the API and the configuration.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Parses its name.
    pub fn parse(word: &str) -> Option<SmtpSecurity> {
        word.parse().ok()
    }

    /// The usual port.
    pub fn port(self) -> u16 {
        match self {
            SmtpSecurity::None => 25,
            SmtpSecurity::StartTls => 587,
            SmtpSecurity::Tls => 465,
        }
    }
}

/// An SMTP server.
#[derive(Clone, Debug)]
pub struct SmtpServer {
    /// Its host name or address.
    pub host: String,
    /// Its port; `None` for the usual one.
    pub port: Option<u16>,
    /// How the connection is protected.
    pub security: SmtpSecurity,
    /// The user to log in as; `None` without a login.
    pub username: Option<String>,
    /// The password of that user.
    pub password: Option<SecretString>,
    /// Whether a password is stored that cannot be decrypted.
    pub password_is_lost: bool,
    /// The sender of mails: `gazer@example.com` or `AgentGazer <gazer@example.com>`.
    pub from: String,
}

impl SmtpServer {
    /// The longest user name and password, in bytes.
    pub const MAX_LOGIN: usize = 1024;

    /// Checks every field. An error names the first invalid one.
    pub fn check(&self) -> Result<(), FieldError> {
        if !is_host(&self.host) {
            return Err(FieldError::new("host", "must be a host name or an address such as smtp.example.com"));
        }
        if self.port == Some(0) {
            return Err(FieldError::new("port", "must be a port from 1 to 65535"));
        }
        if !is_sender(&self.from) {
            let message = "must be an address like gazer@example.com or AgentGazer <gazer@example.com>";
            return Err(FieldError::new("from", message));
        }
        let password = self.password.as_ref().map(|password| password.expose_secret());
        for (field, text) in [("username", self.username.as_deref()), ("password", password)] {
            if text.is_some_and(|text| !is_login(text)) {
                return Err(FieldError::new(field, "must have 1 to 1024 bytes without control characters"));
            }
        }
        match (self.username.is_some(), password.is_some() || self.password_is_lost) {
            (true, false) => Err(FieldError::new("password", "must be given: a login needs both")),
            (false, true) => Err(FieldError::new("username", "must be given: a login needs both")),
            _ => Ok(()),
        }
    }
}

fn is_host(host: &str) -> bool {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    let named = host.bytes().all(is_name) && !host.starts_with(['-', '.']) && !host.contains("..");
    (1..=253).contains(&host.len()) && (named || host.parse::<std::net::IpAddr>().is_ok())
}

/// Stricter than the standard: a name that could end a header is refused.
fn is_sender(from: &str) -> bool {
    match from.strip_suffix('>').and_then(|rest| rest.split_once('<')) {
        Some((name, address)) => {
            let fits = |character: char| !character.is_control() && !"<>@,;:\"\\()[]".contains(character);
            name.chars().count() <= 100 && name.chars().all(fits) && is_mail_address(address)
        }
        None => is_mail_address(from),
    }
}

fn is_login(text: &str) -> bool {
    (1..=SmtpServer::MAX_LOGIN).contains(&text.len()) && !text.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server() -> SmtpServer {
        SmtpServer {
            host: "smtp.example.com".to_owned(),
            port: None,
            security: SmtpSecurity::StartTls,
            username: None,
            password: None,
            password_is_lost: false,
            from: "AgentGazer <gazer@example.com>".to_owned(),
        }
    }

    fn wrong_field(server: SmtpServer) -> &'static str {
        server.check().err().map_or("", |error| error.field)
    }

    #[test]
    fn smtp_server_names_the_field_that_is_wrong() {
        assert_eq!(wrong_field(server()), "");
        assert_eq!(wrong_field(SmtpServer { host: "2001:db8::1".into(), ..server() }), "");
        for host in ["", "mail server", "smtp.example.com:25", "http://mail", "-oProxy", "a..b"] {
            assert_eq!(wrong_field(SmtpServer { host: host.into(), ..server() }), "host", "{host}");
        }
        assert_eq!(wrong_field(SmtpServer { port: Some(0), ..server() }), "port");
        for from in ["", "gazer", "A\r\nBcc: x <gazer@example.com>", "A <gazer>", "A, B <gazer@example.com>"] {
            assert_eq!(wrong_field(SmtpServer { from: from.into(), ..server() }), "from", "{from}");
        }
        assert_eq!(wrong_field(SmtpServer { username: Some("gazer".into()), ..server() }), "password");
        assert_eq!(wrong_field(SmtpServer { password: Some("secret".into()), ..server() }), "username");
        let login = SmtpServer { username: Some("gazer".into()), password: Some("secret".into()), ..server() };
        assert_eq!(wrong_field(login), "");
    }

    #[test]
    fn smtp_security_is_read_as_it_is_written() {
        for security in SmtpSecurity::ALL {
            assert_eq!(SmtpSecurity::parse(security.as_str()), Some(security));
        }
        assert_eq!(SmtpSecurity::parse("ssl"), None);
    }
}
