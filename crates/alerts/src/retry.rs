//! The retry schedule of deliveries: often in the first minutes, so that a target that restarts is
//! notified soon, then the schedule of Standard Webhooks over three days.

use std::time::Duration;

use model::Timestamp;

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// The pause after each failed attempt. After the last one the delivery is given up.
const PAUSES: [Duration; 13] = [
    seconds(5),
    seconds(15),
    seconds(30),
    seconds(60),
    seconds(2 * 60),
    seconds(5 * 60),
    seconds(30 * 60),
    seconds(2 * 3600),
    seconds(5 * 3600),
    seconds(10 * 3600),
    seconds(14 * 3600),
    seconds(20 * 3600),
    seconds(24 * 3600),
];

/// The longest pause that a target can ask for.
const MAX_PAUSE: Duration = seconds(24 * 3600);

/// When the next attempt is after `tries` failures; `None` after the last. `asked` is the pause
/// that the target asked for; `chance`, from 0 to 1, spreads deliveries that failed together.
pub(crate) fn next(tries: u64, now: Timestamp, asked: Option<Duration>, chance: f64) -> Option<Timestamp> {
    let usual = *PAUSES.get(usize::try_from(tries).ok()?.checked_sub(1)?)?;
    let pause = usual.mul_f64(1.0 + chance.clamp(0.0, 1.0) / 5.0).max(asked.unwrap_or_default().min(MAX_PAUSE));
    Some(Timestamp::from_millis(now.as_millis().saturating_add(i64::try_from(pause.as_millis()).ok()?)))
}

/// The longest pause in milliseconds.
pub(crate) fn longest_ms() -> u64 {
    u64::try_from(MAX_PAUSE.as_millis() * 6 / 5).unwrap_or(u64::MAX)
}

/// A random number from 0 to 1.
pub(crate) fn chance() -> f64 {
    getrandom::u32().map_or(0.5, |number| f64::from(number) / f64::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_over_three_days_and_then_end() {
        let pause =
            |tries, chance| next(tries, Timestamp::from_millis(0), None, chance).map(|at| at.as_millis() / 1000);
        assert_eq!(pause(1, 0.0), Some(5));
        assert_eq!(pause(1, 1.0), Some(6));
        let first: Vec<_> = (1..=6).filter_map(|tries| pause(tries, 0.0)).collect();
        assert_eq!(first, [5, 15, 30, 60, 120, 300], "dense in the first minutes");
        assert_eq!(pause(13, 0.0), Some(86_400));
        assert_eq!(pause(14, 0.0), None);
        let hours: i64 = (1..14).filter_map(|tries| pause(tries, 0.0)).sum::<i64>() / 3600;
        assert_eq!(hours, 75);
    }

    #[test]
    fn a_target_may_ask_for_more_time_but_not_for_ever() {
        let asked = |seconds| next(1, Timestamp::from_millis(0), Some(Duration::from_secs(seconds)), 0.0);
        let at = |seconds: i64| Some(Timestamp::from_millis(seconds * 1000));
        assert_eq!(asked(1), at(5));
        assert_eq!(asked(120), at(120));
        assert_eq!(asked(u64::MAX / 1000), at(86_400));
    }
}
