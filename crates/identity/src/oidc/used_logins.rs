//! Logins that this server has finished. A provider should accept a code once; we do not depend on
//! it.

use std::collections::VecDeque;

use parking_lot::Mutex;

/// More than the people who log in while a code is valid.
const MAX_LOGINS: usize = 4096;

/// The newest logins that were finished, by their keys. Only a person whom the provider has logged
/// in adds one.
#[derive(Debug, Default)]
pub(super) struct UsedLogins(Mutex<VecDeque<String>>);

impl UsedLogins {
    /// Adds a login. Returns whether it is new.
    pub(super) fn insert(&self, key: &str) -> bool {
        let mut used = self.0.lock();
        if used.iter().any(|it| it == key) {
            return false;
        }
        if used.len() >= MAX_LOGINS {
            used.pop_front();
        }
        used.push_back(key.to_owned());
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn login_is_finished_once_and_the_oldest_are_forgotten() {
        let used = UsedLogins::default();
        assert!(used.insert("first") && !used.insert("first"));
        assert!((1..MAX_LOGINS).all(|number| used.insert(&number.to_string())));
        assert!(!used.insert("first") && used.insert("one more") && used.insert("first"));
    }
}
