//! Forms of the dashboard.

use axum::Form;
use axum::extract::{FromRequest, Request};
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
