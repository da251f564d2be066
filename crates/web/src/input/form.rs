//! Forms of the dashboard.

use axum::Form;
use axum::extract::{FromRequest, Request};
use axum::http::header::CONTENT_TYPE;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::problem::Problem;

/// The fields of a form. The page reports an invalid value; a missing field means that it is not
/// our form.
pub(crate) struct Fields<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Fields<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let fields = Form::<T>::from_request(request, state).await;
        fields.map(|Form(fields)| Fields(fields)).map_err(|rejection| {
            Problem::bad_request(format!("The form cannot be read, nothing was changed. {}", rejection.body_text()))
        })
    }
}

/// The reason in a form, if it has one. A request without a form comes from a program.
pub(crate) struct Reason(pub(crate) Option<String>);

#[derive(Deserialize)]
struct ReasonField {
    reason: Option<String>,
}

impl<S: Send + Sync> FromRequest<S> for Reason {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        if !request.headers().contains_key(CONTENT_TYPE) {
            return Ok(Reason(None));
        }
        let Fields(ReasonField { reason }) = Fields::from_request(request, state).await?;
        Ok(Reason(reason))
    }
}
