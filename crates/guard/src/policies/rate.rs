//! Rates: how much was counted in the current second and the fifty-nine before it. It takes sixty
//! numbers at any rate, and whole seconds make `Retry-After` exact.

use model::Timestamp;

const SECONDS: usize = 60;

/// Counts of the last minute.
#[derive(Clone, Debug)]
pub(super) struct Minute {
    /// By second, at the second's place in its minute.
    counts: Box<[u64; SECONDS]>,
    /// The sum of all counts.
    total: u64,
    /// The current second.
    newest: i64,
}

impl Default for Minute {
    fn default() -> Self {
        Minute { counts: Box::new([0; SECONDS]), total: 0, newest: i64::MIN }
    }
}

impl Minute {
    /// Counts `amount` now.
    pub(super) fn add(&mut self, now: Timestamp, amount: u64) {
        self.turn(now);
        self.correct(now, 0, amount);
    }

    /// Replaces `counted` by `actual` at `at`, unless that is more than a minute ago.
    pub(super) fn correct(&mut self, at: Timestamp, counted: u64, actual: u64) {
        let at = second(at);
        if !(0..SECONDS as i64).contains(&self.newest.saturating_sub(at)) {
            return;
        }
        let count = &mut self.counts[place(at)];
        let others = count.saturating_sub(counted);
        self.total = self.total.saturating_sub(*count);
        *count = others.saturating_add(actual);
        self.total = self.total.saturating_add(*count);
    }

    /// Seconds until `amount` more stays within `limit`; `None` if it does so now. An amount above
    /// the limit waits as if it were the limit, or it would never pass.
    pub(super) fn wait(&mut self, now: Timestamp, amount: u64, limit: u64) -> Option<u64> {
        self.turn(now);
        let room = limit.saturating_sub(amount);
        let mut left = self.total;
        for seconds in 0..SECONDS as i64 {
            if left <= room {
                return (seconds > 0).then_some(seconds.unsigned_abs());
            }
            // The second that is over then.
            left = left.saturating_sub(self.counts[place(self.newest.saturating_add(1 + seconds))]);
        }
        Some(SECONDS as u64)
    }

    /// Moves on to `now` and forgets the seconds that are over. If the clock was set back by a
    /// minute or more, counting starts over.
    fn turn(&mut self, now: Timestamp) {
        let now = second(now);
        let passed = now.saturating_sub(self.newest);
        if passed.unsigned_abs() >= SECONDS as u64 {
            self.counts.fill(0);
            self.total = 0;
            self.newest = now;
        }
        while self.newest < now {
            self.newest += 1;
            let over = std::mem::take(&mut self.counts[place(self.newest)]);
            self.total = self.total.saturating_sub(over);
        }
    }
}

fn second(at: Timestamp) -> i64 {
    at.as_millis().div_euclid(1000)
}

fn place(second: i64) -> usize {
    second.rem_euclid(SECONDS as i64) as usize
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    #[test]
    fn a_call_passes_when_it_was_told_to_come_back_and_not_before() {
        let mut minute = Minute::default();
        for second in [0, 0, 10] {
            assert_eq!(minute.wait(at(second * 1000), 1, 3), None);
            minute.add(at(second * 1000), 1);
        }
        assert_eq!(minute.wait(at(10_500), 1, 3), Some(50));
        assert_eq!(minute.wait(at(59_999), 1, 3), Some(1));
        assert_eq!(minute.wait(at(60_000), 1, 3), None);
        // Three at once have to wait for the third as well.
        assert_eq!(minute.wait(at(60_000), 3, 3), Some(10));
        assert_eq!(minute.wait(at(60_000), 99, 3), Some(10));
    }

    #[test]
    fn estimate_is_replaced_by_the_actual_count() {
        let mut minute = Minute::default();
        minute.add(at(0), 100);
        minute.add(at(30_000), 100);
        minute.correct(at(0), 100, 10);
        assert_eq!(minute.wait(at(30_000), 90, 200), None);
        // Long over: nothing is left to correct, and nothing else is touched.
        minute.add(at(89_000), 5);
        minute.correct(at(0), 100, 10_000);
        assert_eq!(minute.total, 105);
    }

    #[test]
    fn a_clock_that_is_set_back_does_not_lock_anyone_out() {
        let mut minute = Minute::default();
        minute.add(at(1_000_000_000), 5);
        assert_eq!(minute.wait(at(999_999_000), 1, 5), Some(60));
        assert_eq!(minute.wait(at(1_000), 1, 5), None);
        assert_eq!(minute.wait(at(i64::MIN), 1, 5), None);
        assert_eq!(minute.wait(at(i64::MAX), 1, 5), None);
    }

    proptest! {
        #[test]
        fn minute_equals_a_list_of_all_calls(
            steps in prop::collection::vec((0_i64..20_000, 1_u64..50), 1..80), limit in 1_u64..100
        ) {
            let (mut minute, mut calls, mut now) = (Minute::default(), Vec::new(), 0);
            for (pause, amount) in steps {
                now += pause;
                let fits = |seconds: i64| {
                    let first = second(at(now)) + seconds - SECONDS as i64 + 1;
                    let counted: u64 = calls.iter().filter(|(time, _)| *time >= first).map(|(_, amount)| amount).sum();
                    counted <= limit.saturating_sub(amount)
                };
                let expected = (0..=SECONDS as i64).find(|seconds| fits(*seconds)).filter(|seconds| *seconds > 0);
                let wait = minute.wait(at(now), amount, limit);
                prop_assert_eq!(wait, expected.map(i64::unsigned_abs));
                if wait.is_none() {
                    minute.add(at(now), amount);
                    calls.push((second(at(now)), amount));
                }
            }
        }
    }
}
