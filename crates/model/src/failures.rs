//! Counts failures that are otherwise silent.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A shared counter. Clones count together.
#[derive(Clone, Debug, Default)]
pub struct Failures(Arc<AtomicU64>);

impl Failures {
    /// Adds one.
    pub fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// The count so far.
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
