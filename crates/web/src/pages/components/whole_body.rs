//! A whole body as plain text, to be read in the browser or saved: a browser shows or saves it, and
//! never runs it.

use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use model::CallId;
use serde::Deserialize;
use store::EvidenceBody;

use crate::pages::indented::indented;
use crate::pages::number::grouped;
use crate::pages::plain::plain;
use crate::pages::words::incident::body_cut;

/// How much of a body is shown in the browser.
const SHOWN_CHARACTERS: usize = 500_000;

/// How a body is wanted.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BodyQuery {
    /// To be read in the browser, indented and not too long; else as a file, as it came.
    #[serde(default)]
    show: bool,
}

impl BodyQuery {
    /// The body of `call` as it is wanted.
    pub(in crate::pages) fn answer(&self, call: CallId, which: &str, body: Vec<u8>) -> Response {
        let kind = (CONTENT_TYPE, "text/plain; charset=utf-8".to_owned());
        if self.show {
            return ([kind], shown(&body)).into_response();
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

/// The body as people read it.
fn shown(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    match text.char_indices().nth(SHOWN_CHARACTERS) {
        None => plain(&indented(text.into_owned())),
        Some((end, _)) => plain(&indented(text[..end].to_owned())) + &body_cut(&grouped(SHOWN_CHARACTERS as u64)),
    }
}
