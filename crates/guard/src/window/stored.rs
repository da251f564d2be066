//! The windows of one agent as they are kept in memory: open while they are in use, packed into a
//! few bytes otherwise.

use model::CallId;

use super::Windows;
use super::compact::{compact, expand};

/// The windows of one agent, open or closed.
#[derive(Debug, Default)]
pub(crate) struct StoredWindows {
    open: Option<Box<Windows>>,
    /// Their packed form while they are closed. Empty if no call was ever recorded.
    closed: Box<[u8]>,
}

impl StoredWindows {
    /// The windows, opened if they were closed.
    pub(crate) fn open(&mut self) -> &mut Windows {
        self.open.get_or_insert_with(|| Box::new(expand(&std::mem::take(&mut self.closed))))
    }

    /// Whether they are open.
    pub(crate) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Closes them, unless something would be lost.
    pub(crate) fn close(&mut self) {
        if let Some(bytes) = self.open.as_deref().and_then(compact) {
            (self.open, self.closed) = (None, bytes);
        }
    }

    /// Closes them if that is cheap and no call is in flight that would open them again.
    pub(crate) fn close_if_small(&mut self) {
        if self.open.as_ref().is_some_and(|windows| windows.is_small()) {
            self.close();
        }
    }

    /// The calls in them.
    pub(crate) fn calls(&self) -> Vec<CallId> {
        match &self.open {
            Some(windows) => windows.in_windows().collect(),
            None => expand(&self.closed).in_windows().collect(),
        }
    }
}
