//! Lists are paged by keyset: a page starts after the last key of the previous one, so that rows
//! added or deleted in between neither repeat nor hide others.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::StoreError;

/// The start of the next page; opaque to clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor(pub String);

impl Cursor {
    /// The cursor after the item with this key.
    pub fn after(key: &str) -> Cursor {
        Cursor(URL_SAFE_NO_PAD.encode(key))
    }

    /// Parses a cursor that a client sent back; `None` if it is invalid.
    pub fn parse(text: &str) -> Option<Cursor> {
        let cursor = Cursor(text.to_owned());
        cursor.key().is_ok().then_some(cursor)
    }

    /// The key it encodes.
    fn key(&self) -> Result<String, StoreError> {
        let key = URL_SAFE_NO_PAD.decode(&self.0).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        key.ok_or_else(|| StoreError::Conflict("cursor is not one that a list gave".to_owned()))
    }
}

/// A request for a page.
#[derive(Clone, Debug)]
pub struct PageRequest {
    /// How many items at most (1 to 500).
    pub limit: u32,
    /// Where it starts.
    pub cursor: Option<Cursor>,
}

impl PageRequest {
    /// The most items that a page holds.
    pub const MAX_LIMIT: u32 = 500;

    /// The limit within its range.
    fn limit(&self) -> usize {
        self.limit.clamp(1, Self::MAX_LIMIT) as usize
    }

    /// How many rows to read: one more than the limit tells whether there is a next page.
    pub(crate) fn rows(&self) -> i64 {
        i64::from(self.limit.clamp(1, Self::MAX_LIMIT)) + 1
    }

    /// The key after which the page starts.
    pub(crate) fn after(&self) -> Result<Option<String>, StoreError> {
        self.cursor.as_ref().map(Cursor::key).transpose()
    }
}

/// One page.
#[derive(Clone, Debug)]
pub struct Page<T> {
    /// The items.
    pub items: Vec<T>,
    /// The start of the next page; `None` on the last.
    pub next: Option<Cursor>,
}

impl<T> Page<T> {
    /// Makes the page for `request` from the [`PageRequest::rows`] that were read for it.
    pub(crate) fn of(mut items: Vec<T>, request: &PageRequest, key: impl Fn(&T) -> String) -> Page<T> {
        let more = items.len() > request.limit();
        items.truncate(request.limit());
        let next = items.last().filter(|_| more).map(|last| Cursor::after(&key(last)));
        Page { items, next }
    }

    /// Starts the next page after `key`, where this one stopped, unless this one is full.
    pub(super) fn or_continue_after(self, key: Option<&str>) -> Page<T> {
        Page { next: self.next.or_else(|| key.map(Cursor::after)), ..self }
    }
}
