//! How the numbers of a result move from one result to the next: progress, jitter, or a counter.

use model::{Novelty, ResultPrint};

/// What the movement of the numbers means: numbers that go one way for a while, or go far, are
/// progress; numbers that go back and forth within narrow bounds jitter. While it is too early to
/// decide, they are neutral.
pub(super) fn movement(all: &[Series; 3]) -> Novelty {
    if all.iter().any(Series::moves) {
        Novelty::Found
    } else if all.iter().any(Series::may_move) {
        Novelty::Neutral
    } else {
        Novelty::Jitter
    }
}

pub(super) fn all_series(earlier: impl Iterator<Item = ResultPrint> + Clone, newest: ResultPrint) -> [Series; 3] {
    std::array::from_fn(|place| {
        let mut series = Series::default();
        earlier.clone().chain([newest]).for_each(|result| series.add(result.numbers[place]));
        series
    })
}

/// Whether the numbers of a failure only count the tries: each rises by a little each time. A
/// failure that gets smaller has a number that falls.
pub(super) fn counts_tries(all: &[Series; 3]) -> bool {
    let changes = || all.iter().filter(|series| series.changes > 0);
    changes().any(|series| series.changes >= 2) && changes().all(Series::is_counter)
}

/// Whether the numbers of a failure are random: those that change jump each time.
pub(super) fn are_drawn(all: &[Series; 3]) -> bool {
    let mut changes = all.iter().filter(|series| series.changes > 0).peekable();
    changes.peek().is_some() && changes.all(Series::is_drawn)
}

/// Whether the numbers of a look are live measurements: the length of a queue, a price. Sizes are
/// live only within wide bounds.
pub(super) fn live(all: &[Series; 3]) -> bool {
    let are_sizes = all[2].least.is_sign_negative();
    all.iter().any(|series| series.is_wide() || (!are_sizes && series.may_drift()))
}

/// By how much the number of the try may rise from one result to the next: others may try, too.
const MOST_TRIES: f32 = 4.0;

/// How often a number of something that is run may go back and forth within wide bounds before it
/// is jitter.
const WIDE_CHANGES: u32 = 6;

/// How often a number within narrow bounds must have changed before drift (a price) can be told
/// from noise.
const DRIFT_CHANGES: u32 = 10;
/// The share of its bounds that noise crosses with each change, on average. Drift crosses less.
const NOISE: f32 = 0.36;

/// How often a number must have changed to count as random: a port, a process id.
const DRAWN_CHANGES: u32 = 4;

/// How often a number must have changed for its gain to count.
const SURE_CHANGES: u32 = 6;

/// One number from result to result.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Series {
    last: Option<f32>,
    rises: Option<bool>,
    changes: u32,
    turns: u32,
    least: f32,
    most: f32,
    /// Whether it ever fell, or rose by more than a little.
    jumps: bool,
    /// The distance from its first value, and the sum of all its changes.
    gain: f32,
    path: f32,
}

impl Series {
    fn add(&mut self, value: f32) {
        let Some(last) = self.last.replace(value) else {
            (self.least, self.most) = (value, value);
            return;
        };
        (self.least, self.most) = (self.least.min(value), self.most.max(value));
        if value == last {
            return;
        }
        let rises = value > last;
        self.jumps |= !(0.0..=MOST_TRIES).contains(&(value - last));
        self.turns += u32::from(self.rises.replace(rises).is_some_and(|before| before != rises));
        self.changes += 1;
        self.gain += value - last;
        self.path += (value - last).abs();
    }

    pub(super) fn moves(&self) -> bool {
        // Back as often as forth is not a direction; two steps one way may be chance.
        let has_direction = self.changes > 2 && self.turns * 2 < self.changes - 1;
        // A number that advances may take a step back now and then.
        let gets_on = self.changes >= SURE_CHANGES && self.gain.abs() > self.path * 0.6;
        let goes_far = self.most - self.least > self.most.abs().max(self.least.abs()) / 2.0;
        self.changes > 0 && (has_direction || gets_on || goes_far)
    }

    /// Whether it only falls, and faster than a count of tries: an input that is cut down, errors
    /// that are mended.
    pub(super) fn falls(&self) -> bool {
        self.changes >= 2 && self.turns == 0 && -self.gain > MOST_TRIES * self.changes as f32
    }

    /// Whether it is too early to decide: a number that falls in the end may rise at first.
    fn may_move(&self) -> bool {
        matches!((self.changes, self.turns), (1 | 2, _) | (3, 0 | 1))
    }

    /// Whether it keeps jumping back and forth, as random numbers do.
    fn is_drawn(&self) -> bool {
        self.changes >= DRAWN_CHANGES && self.turns * 2 >= self.changes - 1
    }

    /// Whether it goes back and forth within wide bounds, and not for long yet.
    pub(super) fn is_lively(&self) -> bool {
        self.is_wide() && (1..=WIDE_CHANGES).contains(&self.changes)
    }

    fn is_wide(&self) -> bool {
        self.most - self.least > self.most.abs().max(self.least.abs()) / 5.0
    }

    /// Whether it drifts within narrow bounds, or has not changed often enough to tell.
    fn may_drift(&self) -> bool {
        let crosses = self.path / self.changes as f32;
        self.changes > 0 && (self.changes < DRIFT_CHANGES || crosses < (self.most - self.least) * NOISE)
    }

    fn is_counter(&self) -> bool {
        self.changes > 0 && !self.jumps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_go_one_way_or_far_move() {
        let check = |numbers: &[f32], expected: bool| {
            let mut series = Series::default();
            numbers.iter().for_each(|number| series.add(*number));
            assert_eq!(series.moves(), expected, "{numbers:?}");
        };
        check(&[12.0, 11.0], false);
        check(&[12.0, 11.0, 9.0, 8.0], true);
        check(&[1.0, 1.0, 1.0, 3.0], true);
        check(&[40.0, 38.0, 39.0, 35.0, 33.0, 31.0, 30.0], true);
        check(&[12.0, 870.0, 33.0, 5.0], true);
        check(&[4.1, 4.2, 4.1, 4.2], false);
        check(&[512.0, 530.0, 518.0, 525.0, 511.0], false);
        check(&[58.9, 59.3, 58.7, 57.9, 54.8, 53.7, 54.2, 52.3, 52.7], true);
        check(&[7.0, 7.0, 7.0], false);
    }
}
