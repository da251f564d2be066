//! A whole body as plain text, to be read in the browser or saved. A browser never runs it.

use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use model::CallId;
use serde::Deserialize;
use store::EvidenceBody;

use crate::pages::indented::indented;
use crate::pages::number::grouped;
use crate::pages::plain::plain;
use crate::pages::words::incident::body_cut;

/// The part of a body that is shown in the browser.
const SHOWN_CHARACTERS: usize = 500_000;

/// The form in which a body is asked for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BodyQuery {
    /// Whether to show it in the browser, indented and cut; otherwise it is a file with the
    /// original bytes.
    #[serde(default)]
    show: bool,
}

impl BodyQuery {
    /// The body of `call` in the requested form.
    pub(in crate::pages) fn answer(&self, call: CallId, which: &str, body: Vec<u8>) -> Response {
        let kind = (CONTENT_TYPE, "text/plain; charset=utf-8".to_owned());
        if self.show {
            return ([kind], readable(&body)).into_response();
        }
        let name = (CONTENT_DISPOSITION, format!("attachment; filename=\"{call}-{which}.txt\""));
        ([kind, name], body).into_response()
    }
}

/// The body that a path names.
pub(in crate::pages) fn which_body(word: &str) -> Option<EvidenceBody> {
    match word {
        "request" => Some(EvidenceBody::Request),
        "response" => Some(EvidenceBody::Response),
        _ => None,
    }
}

/// The body in the form for people.
fn readable(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    match text.char_indices().nth(SHOWN_CHARACTERS) {
        None => plain(&indented(text.into_owned())),
        Some((end, _)) => plain(&indented(text[..end].to_owned())) + &body_cut(&grouped(SHOWN_CHARACTERS as u64)),
    }
}
