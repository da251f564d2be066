//! The form of a policy on a page: of one agent, or of agents without a policy of their own.

use axum::http::StatusCode;
use model::{FieldError, Policy, PolicyChange};

use super::policy_form::PolicyForm;
use crate::app::App;
use crate::pages::words;

/// The form, the choices in it, and its error.
pub(in crate::pages) struct PolicyFields {
    pub(in crate::pages) form: PolicyForm,
    /// The providers to choose from.
    pub(in crate::pages) providers: Vec<String>,
    error: Option<FieldError>,
}

impl PolicyFields {
    /// The form of a stored policy.
    pub(in crate::pages) fn new(app: &App, policy: &Policy) -> PolicyFields {
        PolicyFields::of(app, PolicyForm::new(policy), None)
    }

    /// The change that the form asks for, or the form with its error.
    pub(in crate::pages) fn sent(app: &App, pairs: Vec<(String, String)>) -> Result<PolicyChange, Box<PolicyFields>> {
        let form = PolicyForm::sent(pairs);
        let checked = form.change().and_then(|change| change.clone().apply(&Policy::default()).map(|_| change));
        checked.map_err(|error| Box::new(PolicyFields::of(app, form, Some(error))))
    }

    fn of(app: &App, form: PolicyForm, error: Option<FieldError>) -> PolicyFields {
        let known = app.web().providers.all();
        let providers = form.providers(known.iter().map(|provider| provider.name.clone()));
        PolicyFields { form, providers, error }
    }

    /// The error in words.
    pub(in crate::pages) fn error(&self) -> Option<String> {
        self.error.as_ref().map(words::problem::wrong)
    }

    /// Whether the error is in this field.
    pub(in crate::pages) fn is_wrong(&self, field: &str) -> bool {
        self.error.as_ref().is_some_and(|error| error.field == field)
    }

    /// The status of a page with this form.
    pub(in crate::pages) fn status(&self) -> StatusCode {
        if self.error.is_some() { StatusCode::BAD_REQUEST } else { StatusCode::OK }
    }
}
