//! The SMTP server that alerts by mail go through. What is set here overrides the configuration;
//! its password is stored and never shown.

use axum::Json;
use axum::extract::State;
use control::{Commands, SmtpChange};
use model::{ChannelSettings, SmtpSecurity, SmtpServer, is_global};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::api::{channels, schemas};
use crate::app::App;
use crate::gate::ByCaller;
use crate::input::{Body, present};
use crate::problem::{BodyRefusals, Problem, Refusals};

/// The SMTP server in force and the one of the configuration.
#[derive(Serialize, ToSchema)]
#[schema(as = SmtpSettings)]
pub(crate) struct SmtpView {
    /// The server that mails go through; `null` if there is none.
    pub(crate) in_force: Option<SmtpServerView>,
    /// The server of the file, the environment and the flags; `null` if there is none.
    pub(crate) configured: Option<SmtpServerView>,
    /// Whether the server in force was set here.
    pub(crate) is_set_here: bool,
}

/// An SMTP server.
#[derive(Serialize, ToSchema)]
#[schema(as = SmtpServer)]
pub(crate) struct SmtpServerView {
    pub(crate) host: String,
    /// Its port; `null` for the usual one: 587 with `starttls`, 465 with `tls`, 25 with `none`.
    pub(crate) port: Option<u16>,
    #[schema(schema_with = schemas::smtp_security)]
    pub(crate) security: SmtpSecurity,
    pub(crate) username: Option<String>,
    /// Whether a password is stored.
    pub(crate) has_password: bool,
    /// The sender of mails.
    pub(crate) from: String,
}

impl From<SmtpServer> for SmtpServerView {
    fn from(server: SmtpServer) -> SmtpServerView {
        SmtpServerView {
            has_password: server.password.is_some() || server.password_is_lost,
            host: server.host,
            port: server.port,
            security: server.security,
            username: server.username,
            from: server.from,
        }
    }
}

/// The SMTP server to use. A `password` that is absent keeps the stored one, as long as the login
/// is the same.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = SmtpServerChange)]
pub(crate) struct SmtpBody {
    /// A host name or an address.
    #[schema(min_length = 1, max_length = 253)]
    pub(crate) host: String,
    /// Absent for the usual one.
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false, minimum = 1, maximum = 65535)]
    pub(crate) port: Option<u16>,
    /// `starttls` if absent.
    #[serde(default)]
    #[schema(schema_with = schemas::smtp_security)]
    pub(crate) security: SmtpSecurity,
    /// Absent without a login.
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false, min_length = 1, max_length = 1024)]
    pub(crate) username: Option<String>,
    /// Encrypted at rest; never shown again.
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false, write_only, min_length = 1, max_length = 1024)]
    pub(crate) password: Option<String>,
    /// The sender of mails: `gazer@example.com` or `AgentGazer <gazer@example.com>`.
    #[schema(min_length = 1)]
    pub(crate) from: String,
}

/// The recipient of a test mail.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = TestMail)]
pub(crate) struct TestBody {
    /// One mail address.
    #[schema(format = "email", max_length = 254)]
    pub(crate) to: String,
}

/// The SMTP server's answer to a test mail.
#[derive(Serialize, ToSchema)]
#[schema(as = TestMailResult)]
pub(crate) struct TestView {
    /// Whether the server accepted it.
    pub(crate) delivered: bool,
    /// The server's answer, or why there is none.
    pub(crate) answer: String,
}

/// The SMTP server that mails go through now.
pub(crate) async fn in_force(app: &App) -> Result<Option<SmtpServer>, Problem> {
    let stored = app.web().store.smtp_server().await?;
    Ok(stored.or_else(|| app.web().mail.configured.clone()))
}

/// Both servers.
pub(crate) async fn read(app: &App) -> Result<SmtpView, Problem> {
    let (stored, configured) = (app.web().store.smtp_server().await?, app.web().mail.configured.clone());
    Ok(SmtpView {
        is_set_here: stored.is_some(),
        in_force: stored.or_else(|| configured.clone()).map(Into::into),
        configured: configured.map(Into::into),
    })
}

/// Checks and stores a server. Private addresses are refused as they are for other targets.
pub(crate) async fn save(app: &App, commands: &Commands, body: SmtpBody) -> Result<(), Problem> {
    let SmtpBody { host, port, security, username, password, from } = body;
    match host.parse() {
        Ok(address) if !app.web().allow_private_targets && !is_global(address) => {
            let message = "is a private address (the server allows them with --allow-private-targets)";
            return Err(Problem::field("host", message));
        }
        Ok(_) => {}
        Err(_) => channels::check_name(app, "host", &host).await?,
    }
    let change = SmtpChange { host, port, security, username, password: password.map(Into::into), from };
    Ok(commands.put_smtp_server(change).await?)
}

/// Sends a test mail through the server in force.
pub(crate) async fn send_test(app: &App, to: String) -> Result<TestView, Problem> {
    ChannelSettings::Email { to: vec![to.clone()] }.check(false)?;
    if in_force(app).await?.is_none() {
        return Err(Problem::conflict("There is no mail server: set one first."));
    }
    let unable = || Problem::conflict("This server cannot send test mails.");
    let (delivered, answer) = match app.web().mail.tests.send(to).await.ok_or_else(unable)? {
        Ok(answer) => (true, answer),
        Err(answer) => (false, answer),
    };
    Ok(TestView { delivered, answer })
}

/// The SMTP server that alerts by mail go through.
#[utoipa::path(get, path = "/api/settings/smtp", tag = "settings", operation_id = "get_smtp_server",
    responses((status = 200, body = SmtpView), Refusals))]
pub(crate) async fn get(State(app): State<App>) -> Result<Json<SmtpView>, Problem> {
    read(&app).await.map(Json)
}

/// Sets the SMTP server. It overrides the configuration from the next mail on, also after a
/// restart.
#[utoipa::path(put, path = "/api/settings/smtp", tag = "settings", operation_id = "put_smtp_server",
    request_body = SmtpBody, responses((status = 200, body = SmtpView), Refusals, BodyRefusals))]
pub(crate) async fn put(
    State(app): State<App>,
    ByCaller(commands): ByCaller,
    Body(body): Body<SmtpBody>,
) -> Result<Json<SmtpView>, Problem> {
    save(&app, &commands, body).await?;
    read(&app).await.map(Json)
}

/// Goes back to the SMTP server of the configuration.
#[utoipa::path(delete, path = "/api/settings/smtp", tag = "settings", operation_id = "delete_smtp_server",
    responses((status = 200, body = SmtpView), Refusals))]
pub(crate) async fn delete(State(app): State<App>, ByCaller(commands): ByCaller) -> Result<Json<SmtpView>, Problem> {
    commands.reset_smtp_server().await?;
    read(&app).await.map(Json)
}

/// Sends a test mail through the SMTP server in force, and returns the server's answer.
#[utoipa::path(post, path = "/api/settings/smtp/test", tag = "settings", operation_id = "test_smtp_server",
    request_body = TestBody, responses((status = 200, body = TestView), Refusals, BodyRefusals))]
pub(crate) async fn test(State(app): State<App>, Body(body): Body<TestBody>) -> Result<Json<TestView>, Problem> {
    send_test(&app, body.to).await.map(Json)
}
