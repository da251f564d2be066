//! Splits a period into few spans.

use super::progress::Progress;
use super::span::Span;

/// Consecutive spans of one length, from `from` until before `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    /// The length; `None` for hours as they were written, which have no sums.
    pub(crate) made: Option<Span>,
    pub(crate) from: i64,
    pub(crate) to: i64,
}

impl Run {
    /// The length of each.
    pub(crate) fn span(self) -> Span {
        self.made.unwrap_or(Span::Hour)
    }

    /// The starts of its spans.
    pub(crate) fn starts(self) -> impl Iterator<Item = i64> {
        let length = self.span().millis();
        (0..(self.to - self.from) / length).map(move |number| self.from + number * length)
    }
}

/// Splits whole hours into as few of `spans` as possible: the longest in the middle, shorter ones
/// around it. Spans that are not made yet stay hours.
pub(crate) fn split(spans: &[Span], (from, to): (i64, i64), progress: &Progress) -> Vec<Run> {
    let mut runs = Vec::new();
    push_runs(spans, (from, to), progress, &mut runs);
    runs
}

fn push_runs(spans: &[Span], (from, to): (i64, i64), progress: &Progress, runs: &mut Vec<Run>) {
    if from >= to {
        return;
    }
    let Some((&longest, shorter)) = spans.split_last() else { return runs.push(Run { made: None, from, to }) };
    let (first, last) = (longest.end(from), longest.start(to.min(progress.made_until(longest))));
    if first >= last {
        return push_runs(shorter, (from, to), progress, runs);
    }
    push_runs(shorter, (from, first), progress, runs);
    runs.push(Run { made: Some(longest), from: first, to: last });
    push_runs(shorter, (last, to), progress, runs);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HOUR_MS: i64 = Span::Hour.millis();

    fn runs(from: i64, hours: i64, progress: &Progress) -> Vec<Run> {
        split(&Span::ALL, (from * HOUR_MS, (from + hours) * HOUR_MS), progress)
    }

    fn counts(runs: &[Run]) -> Vec<(Option<Span>, usize)> {
        runs.iter().map(|run| (run.made, run.starts().count())).collect()
    }

    #[test]
    fn month_is_split_into_few_spans() {
        let all = Progress::up_to(Span::ALL.map(|span| (span, i64::MAX)));
        let expected = [
            (Span::Hour, 5),
            (Span::SixHours, 1),
            (Span::Day, 6),
            (Span::Week, 3),
            (Span::Day, 2),
            (Span::SixHours, 2),
            (Span::Hour, 1),
        ];
        assert_eq!(counts(&runs(13, 720, &all)), expected.map(|(span, count)| (Some(span), count)));
    }

    #[test]
    fn spans_that_are_not_made_are_left_as_hours() {
        let at = |hour: i64| hour * HOUR_MS;
        let progress =
            Progress::up_to([(Span::Hour, at(50)), (Span::SixHours, at(48)), (Span::Day, at(24)), (Span::Week, 0)]);
        let expected = [(Some(Span::SixHours), 5), (Some(Span::Hour), 2), (None, 3)];
        assert_eq!(counts(&runs(18, 35, &progress)), expected);
        assert_eq!(counts(&runs(50, 1, &progress)), [(None, 1)]);
        assert_eq!(counts(&runs(0, 1, &Progress::default())), [(None, 1)]);
    }

    proptest! {
        #[test]
        fn runs_cover_the_period_without_gaps(
            from in 0_i64..20_000,
            hours in 1_i64..10_000,
            until in prop::array::uniform4(0_i64..30_000),
            shortest in 0_usize..4,
        ) {
            let made = [0, 1, 2, 3].map(|place| (Span::ALL[place], Span::ALL[place].start(until[place] * HOUR_MS)));
            let progress = Progress::up_to(made);
            let (mut at, to) = (from * HOUR_MS, (from + hours) * HOUR_MS);
            for run in split(&Span::ALL[shortest..], (at, to), &progress) {
                prop_assert_eq!(run.from, at);
                prop_assert_eq!((run.span().start(run.from), run.span().start(run.to)), (run.from, run.to));
                prop_assert!(run.made.is_none_or(|span| run.to <= progress.made_until(span)));
                prop_assert_eq!(run.starts().count() as i64 * run.span().millis(), run.to - run.from);
                at = run.to;
            }
            prop_assert_eq!(at, to);
        }
    }
}
