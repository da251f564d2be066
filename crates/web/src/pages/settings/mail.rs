//! The mail server that alerts go through: its form, and a test mail. What is saved here overrides
//! the configuration.

use axum::extract::State;
use model::SmtpSecurity;
use serde::Deserialize;

use super::{FormResult, draw_with};
use crate::api::smtp::{self, SmtpBody, SmtpServerView, TestView};
use crate::app::App;
use crate::gate::ByCaller;
use crate::input::Fields;
use crate::pages::frame::Frame;
use crate::pages::words::problem::{explanation, takes};
use crate::pages::{PageResult, see_other, words};
use crate::problem::Problem;

/// The section of the page.
pub(super) struct MailSection {
    pub(super) form: MailForm,
    /// Whether there is a mail server.
    pub(super) is_set: bool,
    /// Whether it was set here.
    pub(super) is_set_here: bool,
    /// Whether an empty password field keeps a stored password.
    pub(super) has_password: bool,
    /// The address of the configured server, if there is one.
    pub(super) configured: Option<String>,
}

/// The fields of the form; the password is never shown.
#[derive(Clone, Default, Deserialize)]
pub(crate) struct MailForm {
    pub(super) host: String,
    pub(super) port: String,
    pub(super) security: SmtpSecurity,
    pub(super) username: String,
    password: String,
    pub(super) from: String,
}

/// The field of the form for a test mail.
#[derive(Deserialize)]
pub(crate) struct TestForm {
    to: String,
}

/// The result of a test mail.
pub(super) struct Tested {
    pub(super) to: String,
    pub(super) state: &'static str,
    pub(super) tone: &'static str,
    pub(super) answer: String,
}

impl MailSection {
    /// The current server, with `sent` in the form if that has an error.
    pub(super) async fn read(app: &App, sent: Option<MailForm>) -> Result<MailSection, Problem> {
        let server = smtp::read(app).await?;
        let stored = server.in_force.as_ref().filter(|_| server.is_set_here);
        Ok(MailSection {
            has_password: stored.is_some_and(|stored| stored.has_password),
            form: sent.unwrap_or_else(|| server.in_force.as_ref().map(MailForm::new).unwrap_or_default()),
            is_set: server.in_force.is_some(),
            is_set_here: server.is_set_here,
            configured: server.configured.map(|configured| configured.host),
        })
    }
}

impl MailForm {
    fn new(server: &SmtpServerView) -> MailForm {
        MailForm {
            host: server.host.clone(),
            port: server.port.map(|port| port.to_string()).unwrap_or_default(),
            security: server.security,
            username: server.username.clone().unwrap_or_default(),
            password: String::new(),
            from: server.from.clone(),
        }
    }

    pub(super) fn has_security(&self, word: &str) -> bool {
        self.security.as_str() == word
    }

    fn body(&self) -> Result<SmtpBody, Problem> {
        let given = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        let port = given(&self.port).map(|port| port.parse()).transpose();
        Ok(SmtpBody {
            host: self.host.trim().to_owned(),
            port: port.map_err(|_| Problem::field("port", takes::PORT))?,
            security: self.security,
            username: given(&self.username),
            // Spaces may be part of a password.
            password: Some(self.password.clone()).filter(|password| !password.is_empty()),
            from: self.from.trim().to_owned(),
        })
    }
}

impl Tested {
    fn new(to: String, TestView { delivered, answer }: TestView) -> Tested {
        let (state, tone) = words::test_mail(delivered);
        Tested { to, state, tone, answer }
    }
}

/// Saves the server, or draws the form again with the error.
pub(crate) async fn save(
    State(app): State<App>,
    ByCaller(commands): ByCaller,
    frame: Frame,
    Fields(form): Fields<MailForm>,
) -> PageResult {
    let saved = match form.body() {
        Ok(body) => smtp::save(&app, &commands, body).await,
        Err(problem) => Err(problem),
    };
    match saved {
        Ok(()) => Ok(see_other("/settings?done=mail#mail")),
        Err(problem) if problem.status().is_client_error() => {
            let mail_error = Some(explanation(&problem));
            draw_with(&app, frame, FormResult { mail_error, mail: Some(form), ..FormResult::default() }).await
        }
        Err(problem) => Err(problem),
    }
}

/// Goes back to the server of the configuration.
pub(crate) async fn reset(ByCaller(commands): ByCaller) -> PageResult {
    commands.reset_smtp_server().await?;
    Ok(see_other("/settings?done=as-configured#mail"))
}

/// Sends a test mail, and draws the page with its result.
pub(crate) async fn test(
    State(app): State<App>,
    frame: Frame,
    Fields(TestForm { to }): Fields<TestForm>,
) -> PageResult {
    let to = to.trim().to_owned();
    let form_result = match smtp::send_test(&app, to.clone()).await {
        Ok(view) => FormResult { tested: Some(Tested::new(to, view)), ..FormResult::default() },
        Err(problem) if problem.status().is_client_error() => {
            FormResult { mail_error: Some(explanation(&problem)), ..FormResult::default() }
        }
        Err(problem) => return Err(problem),
    };
    draw_with(&app, frame, form_result).await
}
