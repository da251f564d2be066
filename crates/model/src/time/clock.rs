//! Timestamps: milliseconds since 1970 in UTC, and the clock they come from.

use std::fmt;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A moment, in milliseconds since 1970-01-01 in UTC. Formatted as RFC 3339 with milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timestamp(i64);

impl Timestamp {
    /// From milliseconds since 1970.
    pub const fn from_millis(millis: i64) -> Timestamp {
        Timestamp(millis)
    }

    /// Milliseconds since 1970.
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// Milliseconds since `earlier`, 0 if the clock went back.
    pub fn millis_since(self, earlier: Timestamp) -> u64 {
        self.0.saturating_sub(earlier.0).max(0).unsigned_abs()
    }

    /// Parses RFC 3339.
    pub fn parse(text: &str) -> Option<Timestamp> {
        let moment: jiff::Timestamp = text.parse().ok()?;
        Some(Timestamp(moment.as_millisecond()))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let moment = jiff::Timestamp::from_millisecond(self.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
        write!(f, "{moment:.3}")
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        Timestamp::parse(&text).ok_or_else(|| serde::de::Error::custom("not an RFC 3339 time"))
    }
}

/// The source of time, so that a test can control it.
#[derive(Clone, Debug, Default)]
pub enum Clock {
    /// The machine's clock.
    #[default]
    System,
    /// A clock that several machines follow: theirs may differ.
    Followed(Arc<FollowedClock>),
    /// A clock that only a test moves.
    Manual(Arc<ManualClock>),
}

/// A clock elsewhere, as it was last read. Between readings time passes here.
#[derive(Debug)]
pub struct FollowedClock {
    /// The time there when this process started.
    origin: AtomicI64,
}

/// A clock that a test controls.
#[derive(Debug)]
pub struct ManualClock {
    now: AtomicI64,
    /// The sum of its settings, apart from time that passed.
    set_by: AtomicI64,
}

impl Clock {
    /// A clock elsewhere, which shows `now`.
    pub fn followed(now: Timestamp) -> Clock {
        Clock::Followed(Arc::new(FollowedClock { origin: AtomicI64::new(now.0 - passed_since_start()) }))
    }

    /// Adopts what the followed clock showed during the last `round_trip`. A smaller difference
    /// than that may not be one. Other clocks ignore it.
    pub fn adopt(&self, shown: Timestamp, round_trip: Duration) {
        let Clock::Followed(clock) = self else { return };
        let difference = Duration::from_millis(shown.0.abs_diff(self.now().0));
        if difference > round_trip + READING_TOLERANCE {
            clock.origin.store(shown.0 - passed_since_start(), Ordering::SeqCst);
        }
    }

    /// A manual clock.
    pub fn manual(start: Timestamp) -> Clock {
        Clock::Manual(Arc::new(ManualClock { now: AtomicI64::new(start.0), set_by: AtomicI64::new(0) }))
    }

    /// The current time.
    #[allow(clippy::disallowed_methods, reason = "this is where the time comes from")]
    pub fn now(&self) -> Timestamp {
        match self {
            Clock::System => Timestamp(jiff::Timestamp::now().as_millisecond()),
            Clock::Followed(clock) => Timestamp(clock.origin.load(Ordering::SeqCst) + passed_since_start()),
            Clock::Manual(clock) => Timestamp(clock.now.load(Ordering::SeqCst)),
        }
    }

    /// The time since some fixed moment; setting the clock does not change it.
    pub fn elapsed(&self) -> Duration {
        match self {
            Clock::System | Clock::Followed(_) => uptime(),
            Clock::Manual(clock) => {
                let passed = clock.now.load(Ordering::SeqCst) - clock.set_by.load(Ordering::SeqCst);
                Duration::from_millis(passed.max(0).unsigned_abs())
            }
        }
    }

    /// The same, without the time that the machine slept, and without reading a file.
    fn elapsed_awake(&self) -> Duration {
        match self {
            Clock::System | Clock::Followed(_) => since_start(),
            Clock::Manual(_) => self.elapsed(),
        }
    }

    /// Advances a manual clock; the system clock ignores it.
    pub fn advance(&self, millis: i64) {
        if let Clock::Manual(clock) = self {
            clock.now.fetch_add(millis, Ordering::SeqCst);
        }
    }

    /// Sets a manual clock forward or back without passing time.
    pub fn set_by(&self, millis: i64) {
        if let Clock::Manual(clock) = self {
            clock.set_by.fetch_add(millis, Ordering::SeqCst);
            clock.now.fetch_add(millis, Ordering::SeqCst);
        }
    }
}

/// A fixed moment of this process.
static STARTED: OnceLock<Instant> = OnceLock::new();

/// How much a reading of a followed clock may differ from it without being adopted.
const READING_TOLERANCE: Duration = Duration::from_millis(5);

#[allow(clippy::disallowed_methods, reason = "this is where the time comes from")]
fn since_start() -> Duration {
    STARTED.get_or_init(Instant::now).elapsed()
}

fn passed_since_start() -> i64 {
    i64::try_from(since_start().as_millis()).unwrap_or(i64::MAX)
}

/// How long the machine has been up. On Linux this includes sleep, so that sleep does not look like
/// a clock that was set; elsewhere sleep is not included.
#[allow(clippy::disallowed_methods, reason = "this is where the time comes from")]
fn uptime() -> Duration {
    let read = std::fs::read_to_string("/proc/uptime").ok();
    let seconds = read.as_deref().and_then(|text| text.split(' ').next()).and_then(|text| text.parse().ok());
    let uptime = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    uptime.unwrap_or_else(|| STARTED.get_or_init(Instant::now).elapsed())
}

/// Detects that the machine's clock was set.
#[derive(Clone, Debug)]
pub struct ClockWatch {
    clock: Clock,
    last: (Timestamp, Duration),
    last_awake: Duration,
}

/// A change of the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockJump {
    /// What it would show if it had not been set.
    pub expected: Timestamp,
    /// What it shows.
    pub now: Timestamp,
}

impl ClockWatch {
    /// Watches `clock` from now on.
    pub fn new(clock: Clock) -> ClockWatch {
        let (last, last_awake) = ((clock.now(), clock.elapsed()), clock.elapsed_awake());
        ClockWatch { clock, last, last_awake }
    }

    /// Whether the clock was set or the machine slept since the last check; cheap enough for every
    /// call.
    pub fn needs_check(&self) -> bool {
        let passed = self.clock.elapsed_awake().saturating_sub(self.last_awake);
        jump_after(self.last.0, passed, self.clock.now()).is_large()
    }

    /// Whether it was set since the last call.
    pub fn check(&mut self) -> Option<ClockJump> {
        let (now, elapsed) = (self.clock.now(), self.clock.elapsed());
        let (before, then) = std::mem::replace(&mut self.last, (now, elapsed));
        self.last_awake = self.clock.elapsed_awake();
        Some(jump_after(before, elapsed.saturating_sub(then), now)).filter(|jump| jump.is_large())
    }
}

/// How far the clock is from what it should show at a time that `passed` after `before`.
fn jump_after(before: Timestamp, passed: Duration, now: Timestamp) -> ClockJump {
    let passed = i64::try_from(passed.as_millis()).unwrap_or(i64::MAX);
    ClockJump { expected: Timestamp(before.0.saturating_add(passed)), now }
}

impl ClockJump {
    /// Smaller differences are ordinary clock corrections.
    const TOLERANCE_MS: i64 = 60_000;

    fn is_large(self) -> bool {
        self.millis().saturating_abs() > Self::TOLERANCE_MS
    }

    /// By how many milliseconds it was set forward; negative if it was set back.
    pub fn millis(self) -> i64 {
        self.now.0.saturating_sub(self.expected.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_watch_tells_a_clock_that_was_set_from_time_that_passed() {
        let clock = Clock::manual(Timestamp(1_000_000_000));
        let mut watch = ClockWatch::new(clock.clone());
        clock.advance(7 * 86_400_000);
        assert!(!watch.needs_check());
        assert_eq!(watch.check(), None);
        clock.set_by(30_000);
        assert!(!watch.needs_check());
        assert_eq!(watch.check(), None, "clocks are corrected all the time");
        clock.set_by(-86_400_000);
        clock.advance(1_000);
        assert!(watch.needs_check());
        assert_eq!(watch.check().map(ClockJump::millis), Some(-86_400_000));
        assert_eq!(watch.check(), None, "it is reported once");
        assert!(!watch.needs_check());
        clock.set_by(86_400_000);
        assert_eq!(watch.check().map(ClockJump::millis), Some(86_400_000));
        assert_eq!(ClockWatch::new(Clock::System).check(), None);
    }

    #[test]
    fn followed_clock_shows_what_it_adopted() {
        let clock = Clock::followed(Timestamp(1_000_000));
        assert!((1_000_000..1_060_000).contains(&clock.now().0));
        clock.adopt(Timestamp(1_060_000), Duration::from_secs(120));
        assert!(clock.now().0 < 1_060_000, "the reading is too old");
        let copy = clock.clone();
        clock.adopt(Timestamp(5_000_000), Duration::from_millis(1));
        assert!((5_000_000..5_060_000).contains(&copy.now().0));
    }

    #[test]
    fn times_are_written_in_utc_with_milliseconds() {
        assert_eq!(Timestamp::from_millis(1_705_314_600_000).to_string(), "2024-01-15T10:30:00.000Z");
        assert_eq!(Timestamp::from_millis(7).to_string(), "1970-01-01T00:00:00.007Z");
        assert_eq!(Timestamp::parse("2024-01-15T11:30:00.005+01:00"), Some(Timestamp(1_705_314_600_005)));
    }
}
