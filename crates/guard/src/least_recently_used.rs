//! Finds the least recently used entries of a map, several at once so that eviction is rare.
//!
//! Each entry has the number of its last use, because these maps are read concurrently and cannot
//! keep a list in order of use. Other bounded maps differ: the windows of an agent's conversations
//! are a short list in order of use, in which they are also packed; chains of calls and cached
//! bodies are bounded by bytes and evicted in order of age.

/// The `count` entries that were used longest ago, in any order. The first part of an entry is the
/// number of its last use.
pub(crate) fn oldest<T>(mut entries: Vec<(u64, T)>, count: usize) -> Vec<(u64, T)> {
    if count < entries.len() {
        entries.select_nth_unstable_by_key(count, |(last_use, _)| *last_use);
        entries.truncate(count);
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(uses: &[u64], count: usize, expected: &[u64]) {
        let mut found: Vec<u64> =
            oldest(uses.iter().map(|last_use| (*last_use, ())).collect(), count).iter().map(|entry| entry.0).collect();
        found.sort_unstable();
        assert_eq!(found, expected);
    }

    #[test]
    fn oldest_entries_have_the_lowest_numbers() {
        check(&[5, 1, 4, 2, 3], 2, &[1, 2]);
        check(&[5, 1, 4, 2, 3], 0, &[]);
        check(&[5, 1], 2, &[1, 5]);
        check(&[5, 1], 9, &[1, 5]);
        check(&[], 3, &[]);
    }
}
