//! The clients whose agent keys are refused, by address: who still has a key that was revoked, and
//! who guesses.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use crate::{Network, Timestamp};

/// Networks that are remembered; the one that was refused longest ago is forgotten first.
const MAX_NETWORKS: usize = 1000;
/// Refused keys after which a network is reported.
const MANY: u64 = 10;
/// A network is reported at most this often.
const REPORT_EVERY_MS: i64 = 600_000;

/// A client whose keys were refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefusedCaller {
    /// Its address; of several in one network the last one.
    pub address: IpAddr,
    /// How many calls were refused.
    pub count: u64,
    /// When the last of them came.
    pub last_at: Timestamp,
}

/// The clients whose keys were refused since the start.
#[derive(Debug, Default)]
pub(super) struct RefusedCallers(Mutex<HashMap<Network, Entry>>);

#[derive(Debug)]
struct Entry {
    caller: RefusedCaller,
    reported_at: Option<Timestamp>,
}

impl RefusedCallers {
    /// Counts a refused key from `address`. Returns the number of them if it should be reported.
    pub(super) fn note(&self, address: IpAddr, now: Timestamp) -> Option<u64> {
        let mut networks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let network = Network::of(address);
        if networks.len() >= MAX_NETWORKS && !networks.contains_key(&network) {
            forget_one(&mut networks);
        }
        let fresh = Entry { caller: RefusedCaller { address, count: 0, last_at: now }, reported_at: None };
        let entry = networks.entry(network).or_insert(fresh);
        entry.caller = RefusedCaller { address, count: entry.caller.count + 1, last_at: now };
        let is_due = entry.reported_at.is_none_or(|at| (now.as_millis() - at.as_millis()).abs() >= REPORT_EVERY_MS);
        if entry.caller.count <= MANY || !is_due {
            return None;
        }
        entry.reported_at = Some(now);
        Some(entry.caller.count)
    }

    /// The clients, the one with the newest refusal first.
    pub(super) fn list(&self) -> Vec<RefusedCaller> {
        let networks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut callers: Vec<_> = networks.values().map(|entry| entry.caller).collect();
        callers.sort_unstable_by_key(|caller| (std::cmp::Reverse(caller.last_at), caller.address));
        callers
    }
}

fn forget_one(networks: &mut HashMap<Network, Entry>) {
    let oldest = networks.iter().min_by_key(|(_, entry)| entry.caller.last_at).map(|(network, _)| *network);
    if let Some(network) = oldest {
        networks.remove(&network);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may")]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(seconds * 1000)
    }

    #[test]
    fn caller_with_many_refused_keys_is_reported_at_intervals() {
        let callers = RefusedCallers::default();
        let noted: Vec<_> = (0..12).map(|second| callers.note(address("192.0.2.1"), at(second))).collect();
        assert_eq!(noted.iter().position(Option::is_some), Some(10));
        assert_eq!((noted[10], noted[11]), (Some(11), None));
        assert_eq!(callers.note(address("192.0.2.2"), at(12)), None, "another client");
        assert_eq!(callers.note(address("192.0.2.1"), at(609)), None);
        assert_eq!(callers.note(address("192.0.2.1"), at(610)), Some(14));
    }

    #[test]
    fn callers_of_one_network_are_one_and_the_newest_comes_first() {
        let callers = RefusedCallers::default();
        for (second, from) in ["2001:db8::1", "192.0.2.1", "2001:db8::2"].into_iter().enumerate() {
            callers.note(address(from), at(second as i64));
        }
        let caller = |from: &str, count, second| RefusedCaller { address: address(from), count, last_at: at(second) };
        assert_eq!(callers.list(), [caller("2001:db8::2", 2, 2), caller("192.0.2.1", 1, 1)]);
    }

    #[test]
    fn memory_is_bounded_and_the_oldest_is_forgotten() {
        let callers = RefusedCallers::default();
        for number in 0..=MAX_NETWORKS as u32 {
            callers.note(IpAddr::from((0x0a00_0000 + number).to_be_bytes()), at(i64::from(number)));
        }
        let list = callers.list();
        assert_eq!((list.len(), list.last().map(|it| it.last_at)), (MAX_NETWORKS, Some(at(1))));
    }
}
