//! A token bucket over failed logins, so that a weak token cannot be guessed by trying.

use model::Timestamp;
use parking_lot::Mutex;

const CAPACITY: f64 = 10.0;
const MILLIS_PER_ATTEMPT: f64 = 6_000.0;

/// How many more wrong tokens may be tried now.
pub(crate) struct LoginLimit(Mutex<Bucket>);

struct Bucket {
    attempts: f64,
    filled_at: Timestamp,
}

impl LoginLimit {
    pub(crate) fn new(now: Timestamp) -> LoginLimit {
        LoginLimit(Mutex::new(Bucket { attempts: CAPACITY, filled_at: now }))
    }

    /// Takes one attempt, or says in how many seconds there is one.
    pub(crate) fn take(&self, now: Timestamp) -> Result<(), u64> {
        let mut bucket = self.0.lock();
        let refill = now.millis_since(bucket.filled_at) as f64 / MILLIS_PER_ATTEMPT;
        bucket.attempts = (bucket.attempts + refill).min(CAPACITY);
        bucket.filled_at = now;
        if bucket.attempts < 1.0 {
            return Err(((1.0 - bucket.attempts) * MILLIS_PER_ATTEMPT / 1000.0).ceil() as u64);
        }
        bucket.attempts -= 1.0;
        Ok(())
    }

    /// Gives back the attempt of a login that was right.
    pub(crate) fn give_back(&self) {
        let mut bucket = self.0.lock();
        bucket.attempts = (bucket.attempts + 1.0).min(CAPACITY);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_at_once_then_one_every_six_seconds() {
        let limit = LoginLimit::new(Timestamp::from_millis(0));
        for _ in 0..10 {
            assert_eq!(limit.take(Timestamp::from_millis(0)), Ok(()));
        }
        assert_eq!(limit.take(Timestamp::from_millis(0)), Err(6));
        assert_eq!(limit.take(Timestamp::from_millis(6_000)), Ok(()));
        assert_eq!(limit.take(Timestamp::from_millis(6_000)), Err(6));
        limit.give_back();
        assert_eq!(limit.take(Timestamp::from_millis(6_000)), Ok(()));
    }
}
