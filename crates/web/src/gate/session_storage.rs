//! Where sessions are kept while no server runs: a text, read once and written as a whole.

use std::fmt;
use std::io;
use std::sync::Arc;

use parking_lot::Mutex;

type Write = dyn Fn(&str) -> io::Result<()> + Send + Sync;

/// Where sessions are kept; by default nowhere, so that a restart ends them. Clones are the same
/// place.
#[derive(Clone, Default)]
pub struct SessionStorage {
    text: Arc<str>,
    write: Option<Arc<Write>>,
    /// Held while the text is made and written, so that the last one written is the newest.
    turn: Arc<Mutex<()>>,
}

impl SessionStorage {
    /// One that holds `text` and is replaced by `write`.
    pub fn new(text: String, write: impl Fn(&str) -> io::Result<()> + Send + Sync + 'static) -> SessionStorage {
        SessionStorage { text: text.into(), write: Some(Arc::new(write)), turn: Arc::default() }
    }

    /// What was kept when the server started.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Replaces what is kept.
    pub(super) fn write(&self, text: impl FnOnce() -> String) -> io::Result<()> {
        let Some(write) = &self.write else { return Ok(()) };
        let _turn = self.turn.lock();
        write(&text())
    }
}

impl fmt::Debug for SessionStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionStorage")
    }
}
