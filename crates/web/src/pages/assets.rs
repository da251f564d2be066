//! The style and the scripts, embedded. Their URL carries a hash of all of them, so a browser keeps
//! them for good and the scripts find each other by relative imports.

use std::sync::LazyLock;

use axum::extract::Path;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};

use super::words::problem::NO_FILE;
use crate::problem::Problem;

const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const PICTURE: &str = "image/svg+xml";

/// Every file: its name, its type and its content.
const FILES: [(&str, &str, &str); 13] = [
    ("style.css", CSS, include_str!("../../static/style.css")),
    ("icon.svg", PICTURE, include_str!("../../static/icon.svg")),
    ("app.js", SCRIPT, include_str!("../../static/app.js")),
    ("act.js", SCRIPT, include_str!("../../static/act.js")),
    ("live.js", SCRIPT, include_str!("../../static/live.js")),
    ("local.js", SCRIPT, include_str!("../../static/local.js")),
    ("login.js", SCRIPT, include_str!("../../static/login.js")),
    ("notify.js", SCRIPT, include_str!("../../static/notify.js")),
    ("patch.js", SCRIPT, include_str!("../../static/patch.js")),
    ("search.js", SCRIPT, include_str!("../../static/search.js")),
    ("wall.js", SCRIPT, include_str!("../../static/wall.js")),
    ("what_if.js", SCRIPT, include_str!("../../static/what_if.js")),
    ("words.js", SCRIPT, include_str!("../../static/words.js")),
];

/// The URL of a file.
pub(super) fn url(name: &str) -> String {
    static VERSION: LazyLock<u64> = LazyLock::new(version);
    format!("/static/{:016x}/{name}", *VERSION)
}

/// Serves a file. The version in the path is ignored, because only the current one exists.
pub(crate) async fn file(Path((_version, name)): Path<(String, String)>) -> Response {
    let Some((_, content_type, content)) = FILES.iter().find(|(file, _, _)| *file == name) else {
        return Problem::not_found(NO_FILE).into_response();
    };
    ([(CONTENT_TYPE, *content_type), (CACHE_CONTROL, "public, max-age=31536000, immutable")], *content).into_response()
}

/// FNV-1a: tells versions of our own files apart, nothing more.
fn version() -> u64 {
    let bytes = FILES.iter().flat_map(|(_, _, content)| content.bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
