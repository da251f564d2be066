//! The size of the writer's page cache: as large as the batches need. What SQLite releases, the
//! allocator of the C library keeps for the process, so a cache that is larger than needed costs
//! memory for good.

/// The newest pages of every index of one agent, and those that a batch adds to them.
const KIB_PER_AGENT: usize = 32;
/// A batch that touches more pages than the largest cache holds has them written out and read again
/// before it ends.
const SMALLEST_KIB: usize = 8 << 10;
const LARGEST_KIB: usize = 32 << 10;

/// A size of the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CacheSize {
    kib: usize,
}

impl Default for CacheSize {
    fn default() -> CacheSize {
        CacheSize { kib: SMALLEST_KIB }
    }
}

impl CacheSize {
    /// The size that a batch with events of this many agents needs.
    pub(super) fn for_agents(count: usize) -> CacheSize {
        CacheSize { kib: count.saturating_mul(KIB_PER_AGENT).clamp(SMALLEST_KIB, LARGEST_KIB) }
    }

    /// The value of the pragma: negative, because a positive one counts pages.
    pub(super) fn value(self) -> String {
        format!("-{}", self.kib)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cache_follows_the_agents_of_a_batch_within_limits() {
        let value = |agents| CacheSize::for_agents(agents).value();
        assert_eq!([0, 100, 500, 1024, usize::MAX].map(value), ["-8192", "-8192", "-16000", "-32768", "-32768"]);
    }
}
