//! Numbers that stand still for a while, or come back, although what they count goes on.

use model::ResultPrint;

use super::movement::{Series, all_series, live};

/// For each time that a number moved, up to `MOST_MOVES`, it may stand still for so many looks.
const STANDS_FOR: usize = 2;
const MOST_MOVES: usize = 4;

/// Whether a number that has moved before stands still for now: a job advances at its own pace.
pub(super) fn is_plateau(earlier: impl Iterator<Item = ResultPrint> + Clone, newest: ResultPrint) -> bool {
    let alike = || earlier.clone().filter(|result| result.shape == newest.shape);
    let (mut moves, mut stands, mut before) = (0, 0, None);
    for result in alike().chain([newest]) {
        let has_moved = before.is_some_and(|before| before != result.kept);
        (moves, stands) = if has_moved { (moves + 1, 0) } else { (moves, stands + 1) };
        before = Some(result.kept);
    }
    let has_direction = moves >= 2 && all_series(alike(), newest).iter().any(Series::moves);
    has_direction && stands <= STANDS_FOR * moves.min(MOST_MOVES)
}

/// How many values a number must have had before it can return to one of them, and how many looks
/// in a row may show the same one.
const FEWEST_VALUES: usize = 3;
const MOST_EQUAL: usize = 3;

/// Whether a live number briefly has a value that it had some looks ago.
pub(super) fn comes_back(earlier: impl Iterator<Item = ResultPrint> + Clone, newest: ResultPrint) -> bool {
    let alike = || earlier.clone().filter(|result| result.shape == newest.shape);
    let mut values: Vec<u32> = alike().map(|result| result.kept).collect();
    if values.iter().rev().take_while(|value| **value == newest.kept).count() >= MOST_EQUAL {
        return false;
    }
    values.sort_unstable();
    values.dedup();
    values.len() >= FEWEST_VALUES && live(&all_series(alike(), newest))
}
