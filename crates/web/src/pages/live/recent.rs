//! The pages that open browsers have, kept so that the next answer only has the differences. The
//! number is bounded: the oldest are dropped first.

use std::collections::VecDeque;
use std::fmt::Write;
use std::sync::Arc;

use axum::http::HeaderValue;
use parking_lot::Mutex;
use sha2::{Digest, Sha256};

/// All texts together: enough for some hundred open pages.
const MAX_BYTES: usize = 8 * 1024 * 1024;

/// The name of a text: a hash of it.
pub(super) struct Version(String);

impl Version {
    pub(super) fn of(text: &str) -> Version {
        let digest = Sha256::digest(text.as_bytes());
        Version(digest[..12].iter().fold(String::with_capacity(24), |mut name, byte| {
            let _ = write!(name, "{byte:02x}");
            name
        }))
    }

    pub(super) fn is(&self, other: &str) -> bool {
        self.0 == other
    }

    pub(super) fn header(&self) -> HeaderValue {
        HeaderValue::from_str(&self.0).unwrap_or(HeaderValue::from_static(""))
    }
}

/// The texts, oldest first. Cloning is cheap.
#[derive(Clone, Default)]
pub(crate) struct RecentPages(Arc<Mutex<Texts>>);

#[derive(Default)]
struct Texts {
    order: VecDeque<(String, Arc<str>)>,
    bytes: usize,
}

impl RecentPages {
    /// The text of this version, if it is still kept.
    pub(super) fn get(&self, version: &str) -> Option<Arc<str>> {
        let texts = self.0.lock();
        texts.order.iter().rev().find(|(name, _)| name == version).map(|(_, text)| Arc::clone(text))
    }

    /// Keeps a text.
    pub(super) fn insert(&self, version: &Version, text: &str) {
        let mut texts = self.0.lock();
        if texts.order.iter().any(|(name, _)| version.is(name)) {
            return;
        }
        texts.bytes += text.len();
        texts.order.push_back((version.0.clone(), text.into()));
        while texts.bytes > MAX_BYTES
            && let Some((_, oldest)) = texts.order.pop_front()
        {
            texts.bytes -= oldest.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oldest_texts_leave_when_all_are_too_large() {
        let (pages, large) = (RecentPages::default(), "x".repeat(MAX_BYTES / 2));
        let texts = [format!("1{large}"), "2".to_owned(), format!("3{large}")];
        for text in &texts {
            pages.insert(&Version::of(text), text);
            pages.insert(&Version::of(text), text);
        }
        let is_kept = |text: &String| pages.get(&Version::of(text).0).is_some();
        assert_eq!(texts.iter().map(is_kept).collect::<Vec<_>>(), [false, true, true]);
    }
}
