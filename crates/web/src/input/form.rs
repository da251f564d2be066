//! What a form of the dashboard sends.

use axum::Form;
use axum::extract::{FromRequest, Request};
use serde::de::DeserializeOwned;

use crate::problem::Problem;

/// The fields of a form. What is wrong with a value is for the page to say; a field that is missing was never in our form.
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
