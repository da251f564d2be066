//! How often something failed that nobody else would tell of.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A count that one part raises and another shows. Clones are the same count.
#[derive(Clone, Debug, Default)]
pub struct Failures(Arc<AtomicU64>);

impl Failures {
    /// One more.
    pub fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// How many so far.
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
