//! The storage of sessions beside memory: a file, read once and written as a whole, or the
//! database, which all its servers read.

use std::fmt;
use std::io;
use std::sync::Arc;

use parking_lot::Mutex;
use store::Store;

type Write = dyn Fn(&str) -> io::Result<()> + Send + Sync;

/// The storage of sessions. By default there is none, and a restart ends all sessions. Clones share
/// the storage.
#[derive(Clone, Default)]
pub struct SessionStorage(Place);

#[derive(Clone, Default)]
enum Place {
    #[default]
    Nowhere,
    File(Arc<File>),
    Database(Box<Store>),
}

struct File {
    text: String,
    write: Box<Write>,
    /// Held while the text is made and written, so that the last one written is the newest.
    turn: Mutex<()>,
}

impl SessionStorage {
    /// A file that holds `text`; `write` replaces its content.
    pub fn new(text: String, write: impl Fn(&str) -> io::Result<()> + Send + Sync + 'static) -> SessionStorage {
        SessionStorage(Place::File(Arc::new(File { text, write: Box::new(write), turn: Mutex::default() })))
    }

    /// The database, which other servers use too.
    pub fn database(store: Store) -> SessionStorage {
        SessionStorage(Place::Database(Box::new(store)))
    }

    /// The text that was stored when the server started.
    pub(super) fn text(&self) -> &str {
        match &self.0 {
            Place::File(file) => &file.text,
            Place::Nowhere | Place::Database(_) => "",
        }
    }

    /// Replaces the content of the file.
    pub(super) fn write(&self, text: impl FnOnce() -> String) -> io::Result<()> {
        let Place::File(file) = &self.0 else { return Ok(()) };
        let _turn = file.turn.lock();
        (file.write)(&text())
    }

    /// The database, if it stores the sessions.
    pub(super) fn shared(&self) -> Option<&Store> {
        match &self.0 {
            Place::Database(store) => Some(store),
            Place::Nowhere | Place::File(_) => None,
        }
    }
}

impl fmt::Debug for SessionStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionStorage")
    }
}
