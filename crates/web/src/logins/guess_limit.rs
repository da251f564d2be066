//! Limits wrong tokens per client network, which makes guessing slow and visible in the log. The
//! right token always passes: a limit that also refused it would let anyone lock the operator out.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use model::Network;
use parking_lot::Mutex;

/// Wrong tokens that a network may send at once.
const BURST: u32 = 10;
/// The time after which one more is allowed.
const PER_GUESS: Duration = Duration::from_secs(6);
/// Bounds the memory: an attacker may own any number of addresses.
const MAX_NETWORKS: usize = 4096;
/// The log names a network at most this often.
const WARN_EVERY: Duration = Duration::from_secs(600);

/// The wrong tokens of each network. Time is monotonic: a clock that is set back must not prolong a
/// limit.
#[derive(Default)]
pub(crate) struct GuessLimit(Mutex<HashMap<Network, Guesses>>);

struct Guesses {
    /// When the wrong tokens so far are forgotten: each adds `PER_GUESS`.
    forgotten_at: Instant,
    warned_at: Option<Instant>,
}

impl Guesses {
    /// Counts one more, or returns the seconds until one is allowed.
    fn count(&mut self, now: Instant) -> Result<(), u64> {
        let remembered = self.forgotten_at.saturating_duration_since(now);
        let excess = (remembered + PER_GUESS).saturating_sub(PER_GUESS * BURST);
        if !excess.is_zero() {
            return Err(excess.as_millis().div_ceil(1000) as u64);
        }
        self.forgotten_at = now + remembered + PER_GUESS;
        Ok(())
    }

    fn warn_once(&mut self, address: IpAddr, now: Instant) {
        let is_known = self.warned_at.is_some_and(|warned| now.saturating_duration_since(warned) < WARN_EVERY);
        if !is_known {
            self.warned_at = Some(now);
            tracing::warn!(%address, "too many wrong tokens from this address: further ones are answered with 429");
        }
    }
}

impl GuessLimit {
    /// Whether one more wrong guess would be allowed from `address`. An error holds the seconds to
    /// wait.
    pub(crate) fn check(&self, address: IpAddr, now: Instant) -> Result<(), u64> {
        let networks = self.0.lock();
        let forgotten_at = networks.get(&Network::of(address)).map_or(now, |guesses| guesses.forgotten_at);
        Guesses { forgotten_at, warned_at: None }.count(now)
    }

    /// Counts a wrong token from `address`. An error holds the seconds to wait.
    pub(crate) fn count_wrong(&self, address: IpAddr, now: Instant) -> Result<(), u64> {
        let mut networks = self.0.lock();
        let network = Network::of(address);
        if networks.len() >= MAX_NETWORKS && !networks.contains_key(&network) {
            forget_one(&mut networks);
        }
        let fresh = Guesses { forgotten_at: now, warned_at: None };
        let guesses = networks.entry(network).or_insert(fresh);
        let counted = guesses.count(now);
        if counted.is_err() {
            guesses.warn_once(address, now);
        }
        counted
    }
}

/// Wrong passwords of each account, from all networks. It allows more than one network can send, so
/// that a single place cannot keep a user out; the token of the first start is not limited.
#[derive(Default)]
pub(crate) struct AccountLimit(Mutex<HashMap<String, Instant>>);

/// Wrong passwords that an account may get at once, and the time after which one more is allowed.
const ACCOUNT_BURST: u32 = 50;
const PER_PASSWORD: Duration = Duration::from_secs(2);

impl AccountLimit {
    /// Whether one more password may be tried. An error holds the seconds to wait.
    pub(crate) fn check(&self, account: &str, now: Instant) -> Result<(), u64> {
        let forgotten_at = self.0.lock().get(account).copied().unwrap_or(now);
        let remembered = forgotten_at.saturating_duration_since(now);
        let excess = (remembered + PER_PASSWORD).saturating_sub(PER_PASSWORD * ACCOUNT_BURST);
        if excess.is_zero() { Ok(()) } else { Err(excess.as_millis().div_ceil(1000) as u64) }
    }

    /// Counts a wrong password.
    pub(crate) fn count_wrong(&self, account: &str, now: Instant) {
        let mut accounts = self.0.lock();
        if accounts.len() >= MAX_NETWORKS && !accounts.contains_key(account) {
            accounts.retain(|_, forgotten_at| *forgotten_at > now);
        }
        if accounts.len() >= MAX_NETWORKS {
            return;
        }
        let forgotten_at = accounts.entry(account.to_owned()).or_insert(now);
        *forgotten_at = (*forgotten_at).max(now) + PER_PASSWORD;
    }
}

/// Drops the network with the fewest wrong tokens, because it gains the least.
fn forget_one(networks: &mut HashMap<Network, Guesses>) {
    let fewest = networks.iter().min_by_key(|(_, guesses)| guesses.forgotten_at);
    if let Some(network) = fewest.map(|(network, _)| *network) {
        networks.remove(&network);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn seconds(count: u64) -> Duration {
        Duration::from_secs(count)
    }

    #[test]
    fn ten_wrong_tokens_at_once_then_one_every_six_seconds() {
        let (limit, start, peer) = (GuessLimit::default(), Instant::now(), address("192.0.2.1"));
        for _ in 0..10 {
            assert_eq!(limit.count_wrong(peer, start), Ok(()));
        }
        assert_eq!(limit.count_wrong(peer, start), Err(6));
        assert_eq!(limit.count_wrong(peer, start + seconds(4)), Err(2));
        assert_eq!(limit.count_wrong(peer, start + seconds(6)), Ok(()));
        assert_eq!(limit.count_wrong(peer, start + seconds(6)), Err(6));
        assert_eq!(limit.count_wrong(peer, start + seconds(600)), Ok(()));
    }

    #[test]
    fn networks_are_limited_separately() {
        let (limit, now) = (GuessLimit::default(), Instant::now());
        for _ in 0..10 {
            limit.count_wrong(address("192.0.2.1"), now).unwrap();
            limit.count_wrong(address("2001:db8::1"), now).unwrap();
        }
        for limited in ["192.0.2.1", "::ffff:192.0.2.1", "2001:db8::1", "2001:db8::ffff:ffff:ffff:ffff"] {
            assert!(limit.count_wrong(address(limited), now).is_err(), "{limited}");
        }
        for other in ["192.0.2.2", "2001:db8:0:1::1"] {
            assert!(limit.count_wrong(address(other), now).is_ok(), "{other}");
        }
    }

    #[test]
    fn account_is_limited_from_many_networks_and_not_from_one() {
        let (limit, now) = (AccountLimit::default(), Instant::now());
        for _ in 0..ACCOUNT_BURST {
            assert_eq!(limit.check("ann", now), Ok(()));
            limit.count_wrong("ann", now);
        }
        assert_eq!((limit.check("ann", now), limit.check("ben", now)), (Err(2), Ok(())));
        assert_eq!(limit.check("ann", now + seconds(2)), Ok(()));
        assert!(PER_GUESS > PER_PASSWORD, "one network alone never uses an account up");
    }

    #[test]
    fn memory_is_bounded_and_limited_networks_stay_limited() {
        let (limit, now, attacker) = (GuessLimit::default(), Instant::now(), address("192.0.2.1"));
        for _ in 0..10 {
            limit.count_wrong(attacker, now).unwrap();
        }
        for number in 0..2 * MAX_NETWORKS as u32 {
            limit.count_wrong(IpAddr::from((0x0a00_0000 + number).to_be_bytes()), now).unwrap();
        }
        assert_eq!(limit.0.lock().len(), MAX_NETWORKS);
        assert_eq!(limit.count_wrong(attacker, now), Err(6));
    }
}
