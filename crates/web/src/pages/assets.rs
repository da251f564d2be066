//! The style and the scripts, embedded. Their URLs carry a hash of their content, so a browser keeps them for good.

use std::sync::LazyLock;

use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::IntoResponse;

const STYLE: &str = include_str!("../../static/style.css");
const LIVE: &str = include_str!("../../static/live.js");
const LOGIN: &str = include_str!("../../static/login.js");

/// Where the style is.
pub(super) fn style_url() -> &'static str {
    static URL: LazyLock<String> = LazyLock::new(|| url("style.css", STYLE));
    &URL
}

/// Where the script is that keeps a page live.
pub(super) fn live_url() -> &'static str {
    static URL: LazyLock<String> = LazyLock::new(|| url("live.js", LIVE));
    &URL
}

/// Where the script of the login is.
pub(super) fn login_url() -> &'static str {
    static URL: LazyLock<String> = LazyLock::new(|| url("login.js", LOGIN));
    &URL
}

pub(crate) async fn style() -> impl IntoResponse {
    file("text/css; charset=utf-8", STYLE)
}

pub(crate) async fn live() -> impl IntoResponse {
    file("text/javascript; charset=utf-8", LIVE)
}

pub(crate) async fn login() -> impl IntoResponse {
    file("text/javascript; charset=utf-8", LOGIN)
}

fn file(content_type: &'static str, content: &'static str) -> impl IntoResponse {
    ([(CONTENT_TYPE, content_type), (CACHE_CONTROL, "public, max-age=31536000, immutable")], content)
}

fn url(name: &str, content: &str) -> String {
    format!("/static/{name}?v={:016x}", fnv(content.as_bytes()))
}

/// FNV-1a: tells versions of our own files apart, nothing more.
fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
