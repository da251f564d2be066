//! Warnings from parts of the server that this crate does not know.

use std::fmt;
use std::sync::Arc;

type Read = dyn Fn() -> Vec<String> + Send + Sync;

/// Reports the current warnings. They are public, so they hold no paths and no names of agents.
#[derive(Clone, Default)]
pub struct Warnings(Option<Arc<Read>>);

impl Warnings {
    /// Reads warnings with `read`.
    pub fn new(read: impl Fn() -> Vec<String> + Send + Sync + 'static) -> Warnings {
        Warnings(Some(Arc::new(read)))
    }

    /// The current warnings.
    pub fn read(&self) -> Vec<String> {
        self.0.as_ref().map(|read| read()).unwrap_or_default()
    }
}

impl fmt::Debug for Warnings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.read()).finish()
    }
}
