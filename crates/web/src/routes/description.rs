//! The description of the API, generated from its routes.

use std::sync::LazyLock;

use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use utoipa::OpenApi;

use super::{api, open_api};
use crate::api::openapi;
use crate::problem::Refusals;

/// This API, generated from the code.
#[utoipa::path(get, path = "/api/openapi.json", tag = "openapi", operation_id = "openapi",
    responses((status = 200, body = serde_json::Value), Refusals))]
pub(super) async fn get() -> impl IntoResponse {
    ([(CONTENT_TYPE, "application/json")], openapi_json())
}

/// The description of the API, generated from the code.
pub fn openapi_json() -> String {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let mut description = openapi::Api::openapi();
        description.merge(open_api().into_openapi());
        description.merge(api().into_openapi());
        openapi::to_text(&description)
    });
    TEXT.clone()
}
