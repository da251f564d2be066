//! The score bar: the threshold is in the middle, twice the threshold at the right. The bar is
//! filled up to the score, with a segment for each signal.

use crate::api::Signals;
use crate::pages::words::labels::{self, signal};

/// The bar's width in its own units; the threshold is in the middle.
const WIDTH: f64 = 200.0;

/// A bar, ready to be drawn.
pub(in crate::pages) struct ScoreBar {
    pub(in crate::pages) segments: Vec<Segment>,
    /// A colour that shows how near the threshold is.
    pub(in crate::pages) level: &'static str,
    /// `7.0 / 5`
    pub(in crate::pages) text: String,
    /// `140 %`
    pub(in crate::pages) percent: String,
    /// The same in words.
    pub(in crate::pages) label: String,
}

/// One signal's part of the fill.
pub(in crate::pages) struct Segment {
    pub(in crate::pages) x: String,
    pub(in crate::pages) width: String,
    pub(in crate::pages) tint: &'static str,
    pub(in crate::pages) title: String,
}

impl ScoreBar {
    pub(in crate::pages) fn new(score: f64, threshold: f64, signals: &Signals) -> ScoreBar {
        let share = score / threshold;
        let percent = format!("{:.0} %", share * 100.0);
        let label = labels::score(score, threshold, &percent, signals);
        ScoreBar {
            segments: segments(threshold, signals),
            level: level(share),
            text: format!("{score:.1} / {threshold}"),
            percent,
            label,
        }
    }
}

fn level(share: f64) -> &'static str {
    match share {
        share if share > 1.0 => "over",
        share if share >= 0.8 => "near",
        share if share >= 0.5 => "some",
        _ => "low",
    }
}

fn segments(threshold: f64, signals: &Signals) -> Vec<Segment> {
    let parts = [
        ("prompts", signal::PROMPTS, signals.similar_prompts),
        ("responses", signal::RESPONSES, signals.similar_responses),
        ("tools", signal::TOOL_CALLS, signals.repeated_tool_calls),
    ];
    let mut start = 0.0_f64;
    let mut segments = Vec::new();
    for (tint, (letter, _), signal) in parts {
        let end = (start + signal.score / threshold * WIDTH / 2.0).min(WIDTH);
        if end > start {
            let title = format!("{letter}: {} × {:.1} = {:.1}", signal.count, signal.weight, signal.score);
            segments.push(Segment { x: format!("{start:.1}"), width: format!("{:.1}", end - start), tint, title });
        }
        start = end;
    }
    segments
}

#[cfg(test)]
mod tests {
    use model::SignalCounts;

    use super::*;

    fn bar(counts: (u32, u32, u32), threshold: f64) -> ScoreBar {
        let (similar_prompts, similar_responses, repeated_tool_calls) = counts;
        let counts = SignalCounts { similar_prompts, similar_responses, repeated_tool_calls };
        ScoreBar::new(counts.score(), threshold, &counts.into())
    }

    #[test]
    fn bar_shows_the_score() {
        let bar = bar((3, 2, 0), 5.0);
        assert_eq!((bar.text.as_str(), bar.percent.as_str(), bar.level), ("7.0 / 5", "140 %", "over"));
        let segments: Vec<_> = bar.segments.iter().map(|part| (part.x.as_str(), part.width.as_str())).collect();
        assert_eq!(segments, [("0.0", "60.0"), ("60.0", "80.0")]);
        assert_eq!(
            bar.label,
            "Loop score 7.0 of 5, 140 %: 3 similar prompts, 2 similar responses, 0 repeated tool calls"
        );
    }

    #[test]
    fn colour_shows_how_near_the_threshold_is() {
        for (prompts, level) in [(0, "low"), (4, "low"), (5, "some"), (8, "near"), (10, "near"), (11, "over")] {
            assert_eq!(bar((prompts, 0, 0), 10.0).level, level, "{prompts}");
        }
    }

    #[test]
    fn the_fill_ends_at_twice_the_threshold() {
        let bar = bar((50, 50, 50), 5.0);
        assert_eq!(bar.segments.len(), 1);
        assert_eq!(bar.segments[0].width, "200.0");
    }
}
