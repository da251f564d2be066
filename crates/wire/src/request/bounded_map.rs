//! A map that is bounded by the sizes of its entries: the entry that was stored longest ago is
//! evicted first.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

/// The map. What its sizes count is up to its owner.
#[derive(Debug)]
pub(super) struct BoundedMap<K, V> {
    entries: HashMap<K, Entry<V>>,
    by_age: BTreeMap<u64, K>,
    next_age: u64,
    size: usize,
    limit: usize,
}

#[derive(Debug)]
struct Entry<V> {
    age: u64,
    size: usize,
    value: V,
}

impl<K: Copy + Eq + Hash, V> BoundedMap<K, V> {
    /// Creates an empty map whose entries never exceed `limit` together.
    pub(super) fn new(limit: usize) -> BoundedMap<K, V> {
        BoundedMap { entries: HashMap::new(), by_age: BTreeMap::new(), next_age: 0, size: 0, limit }
    }

    /// The value of `key`, which does not become newer by that.
    pub(super) fn get(&self, key: K) -> Option<&V> {
        self.entries.get(&key).map(|entry| &entry.value)
    }

    /// The same, to change it. Its size must stay.
    pub(super) fn get_mut(&mut self, key: K) -> Option<&mut V> {
        self.entries.get_mut(&key).map(|entry| &mut entry.value)
    }

    /// Takes the value of `key` out.
    pub(super) fn remove(&mut self, key: K) -> Option<V> {
        let entry = self.entries.remove(&key)?;
        self.by_age.remove(&entry.age);
        self.size -= entry.size;
        Some(entry.value)
    }

    /// Stores a value of this size as the newest, in place of an earlier one. A value that exceeds
    /// the limit alone is not kept.
    pub(super) fn insert(&mut self, key: K, value: V, size: usize) {
        self.remove(key);
        let age = self.next_age;
        self.next_age += 1;
        self.size += size;
        self.by_age.insert(age, key);
        self.entries.insert(key, Entry { age, size, value });
        while self.size > self.limit {
            let Some((_, &oldest)) = self.by_age.first_key_value() else { break };
            self.remove(oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The keys that are left of values of these sizes, which are stored one after the other.
    fn left(limit: usize, stored: &[(u8, usize)]) -> Vec<u8> {
        let mut map = BoundedMap::new(limit);
        for &(key, size) in stored {
            map.insert(key, (), size);
            assert_eq!(map.size, map.entries.values().map(|entry| entry.size).sum::<usize>());
            assert!(map.size <= limit && map.by_age.len() == map.entries.len());
        }
        map.by_age.into_values().collect()
    }

    #[test]
    fn oldest_entries_are_evicted_until_the_rest_fits() {
        assert_eq!(left(10, &[(1, 4), (2, 4), (3, 2)]), [1, 2, 3]);
        assert_eq!(left(10, &[(1, 4), (2, 4), (3, 3)]), [2, 3]);
        assert_eq!(left(10, &[(1, 4), (2, 4), (3, 9)]), [3]);
    }

    #[test]
    fn value_that_is_stored_again_is_the_newest_and_counts_once() {
        assert_eq!(left(10, &[(1, 4), (2, 4), (1, 6), (3, 1)]), [1, 3]);
    }

    #[test]
    fn value_that_exceeds_the_limit_alone_is_not_kept() {
        assert_eq!(left(10, &[(1, 4), (2, 11)]), [0; 0]);
    }
}
