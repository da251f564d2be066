//! Charts over time, drawn by the server: bars with labelled axes, a value for each on hover, and
//! the same values as a table for people who cannot see the chart.

use model::Timestamp;
use store::Resolution;

use crate::pages::words::labels;

/// The size of the chart in its own units: the area of the bars, and the margins for the axes.
const WIDTH: f64 = 396.0;
const HEIGHT: f64 = 136.0;
const LEFT: f64 = 64.0;
const TOP: f64 = 12.0;

/// The most labels of the time axis.
const TIME_LABELS: usize = 5;

/// A chart, ready to be drawn.
pub(in crate::pages) struct Chart {
    pub(in crate::pages) title: String,
    /// A description in one sentence.
    pub(in crate::pages) label: String,
    /// The name of the values' column.
    pub(in crate::pages) unit: &'static str,
    /// `hour` or `day`.
    pub(in crate::pages) resolution: &'static str,
    /// The text in place of the chart if all values are zero.
    pub(in crate::pages) nothing: Option<String>,
    /// A note on what the values leave out.
    pub(in crate::pages) left_out: Option<String>,
    pub(in crate::pages) bars: Vec<ChartBar>,
    pub(in crate::pages) lines: Vec<Line>,
    pub(in crate::pages) times: Vec<TimeLabel>,
}

/// One bar.
pub(in crate::pages) struct ChartBar {
    pub(in crate::pages) x: String,
    pub(in crate::pages) y: String,
    pub(in crate::pages) width: String,
    pub(in crate::pages) height: String,
    /// The start of its time, in UTC.
    pub(in crate::pages) at: String,
    pub(in crate::pages) shown: String,
}

/// A line of the value axis.
pub(in crate::pages) struct Line {
    pub(in crate::pages) y: String,
    pub(in crate::pages) text_y: String,
    pub(in crate::pages) shown: String,
}

/// A label of the time axis.
pub(in crate::pages) struct TimeLabel {
    pub(in crate::pages) x: String,
    pub(in crate::pages) at: String,
    pub(in crate::pages) shown: String,
}

/// The values to draw, one for each span, the oldest first.
pub(in crate::pages) struct Series {
    pub(in crate::pages) title: String,
    pub(in crate::pages) unit: &'static str,
    pub(in crate::pages) resolution: Resolution,
    pub(in crate::pages) points: Vec<(Timestamp, f64)>,
    /// How a value is written.
    pub(in crate::pages) write: fn(f64) -> String,
    /// The least value at which the axis ends.
    pub(in crate::pages) least_top: f64,
    /// Whether the sum of the values is meaningful.
    pub(in crate::pages) adds_up: bool,
}

impl Series {
    /// Draws the chart.
    pub(in crate::pages) fn chart(self) -> Chart {
        let most = self.points.iter().map(|(_, value)| *value).fold(0.0, f64::max);
        let top = nice_top(most).max(self.least_top);
        let step = WIDTH / self.points.len().max(1) as f64;
        let total: f64 = self.points.iter().map(|(_, value)| value).sum();
        let total = self.adds_up.then(|| (self.write)(total));
        Chart {
            label: labels::chart(&self.title, total.as_deref(), &(self.write)(most)),
            bars: self.points.iter().enumerate().map(|(place, point)| self.bar(place, *point, (step, top))).collect(),
            lines: [0.0, 0.5, 1.0].map(|share| self.line(share, top)).into(),
            times: self.times(step),
            nothing: (most <= 0.0).then(|| labels::nothing_drawn(&(self.write)(0.0))),
            left_out: None,
            title: self.title,
            unit: self.unit,
            resolution: match self.resolution {
                Resolution::Hour => "hour",
                Resolution::Day => "day",
            },
        }
    }

    fn bar(&self, place: usize, (at, value): (Timestamp, f64), (step, top): (f64, f64)) -> ChartBar {
        let height = if value > 0.0 { (value / top * HEIGHT).max(1.0) } else { 0.0 };
        ChartBar {
            x: short(LEFT + place as f64 * step + step * 0.1),
            y: short(TOP + HEIGHT - height),
            width: short(step * 0.8),
            height: short(height),
            at: at.to_string(),
            shown: (self.write)(value),
        }
    }

    fn line(&self, share: f64, top: f64) -> Line {
        let y = TOP + HEIGHT * (1.0 - share);
        Line { y: short(y), text_y: short(y + 4.0), shown: (self.write)(top * share) }
    }

    /// The newest always has a label.
    fn times(&self, step: f64) -> Vec<TimeLabel> {
        let every = self.points.len().div_ceil(TIME_LABELS).max(1);
        let first = self.points.len().saturating_sub(1) % every;
        let label = |(place, (at, _)): (usize, &(Timestamp, f64))| TimeLabel {
            x: short(LEFT + (place as f64 + 0.5) * step),
            at: at.to_string(),
            shown: self.time(*at),
        };
        self.points.iter().enumerate().skip(first).step_by(every).map(label).collect()
    }

    /// `14:00` or `01-15`, in UTC; the browser writes it in the viewer's zone.
    fn time(&self, at: Timestamp) -> String {
        let text = at.to_string();
        match self.resolution {
            Resolution::Hour => text.get(11..16).unwrap_or_default().to_owned(),
            Resolution::Day => text.get(5..10).unwrap_or_default().to_owned(),
        }
    }
}

/// The least of 1, 2, 4, 10, 20, 40, … that is not below `most`: half of it is round, too.
fn nice_top(most: f64) -> f64 {
    if most <= 0.0 {
        return 1.0;
    }
    let unit = 10_f64.powf(most.log10().floor());
    let steps = [1.0, 2.0, 4.0, 10.0];
    steps.into_iter().map(|step| step * unit).find(|top| *top >= most * 0.999_999).unwrap_or(most)
}

/// A coordinate with one digit.
fn short(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axis_ends_at_a_round_number() {
        for (most, top) in
            [(0.0, 1.0), (0.03, 0.04), (1.0, 1.0), (7.0, 10.0), (11.0, 20.0), (340.0, 400.0), (1000.0, 1000.0)]
        {
            assert!((nice_top(most) - top).abs() < 1e-9, "{most}: {}", nice_top(most));
        }
    }

    #[test]
    fn the_newest_time_has_a_label() {
        let points = (0..24).map(|hour| (Timestamp::from_millis(hour * 3_600_000), 0.0)).collect();
        let write = |value: f64| format!("{value:.0}");
        let (title, unit) = (String::new(), "");
        let chart =
            Series { title, unit, resolution: Resolution::Hour, points, write, least_top: 2.0, adds_up: true }.chart();
        let times: Vec<_> = chart.times.iter().map(|time| time.shown.as_str()).collect();
        assert_eq!(times, ["03:00", "08:00", "13:00", "18:00", "23:00"]);
        let lines: Vec<_> = chart.lines.iter().map(|line| line.shown.as_str()).collect();
        assert_eq!(lines, ["0", "1", "2"], "no line lies where its number does not");
    }

    #[test]
    fn bars_are_as_high_as_their_values() {
        let hour = |hour: i64| Timestamp::from_millis(hour * 3_600_000);
        let series = Series {
            title: "Calls".to_owned(),
            unit: "Calls",
            resolution: Resolution::Hour,
            points: vec![(hour(0), 0.0), (hour(1), 5.0), (hour(2), 10.0)],
            write: |value| format!("{value:.0}"),
            least_top: 2.0,
            adds_up: true,
        };
        let chart = series.chart();
        let heights: Vec<_> = chart.bars.iter().map(|bar| bar.height.as_str()).collect();
        assert_eq!(heights, ["0", "68", "136"]);
        let lines: Vec<_> = chart.lines.iter().map(|line| line.shown.as_str()).collect();
        assert_eq!(lines, ["0", "5", "10"]);
        let times: Vec<_> = chart.times.iter().map(|time| time.shown.as_str()).collect();
        assert_eq!(times, ["00:00", "01:00", "02:00"]);
        assert_eq!(chart.label, "Calls: 15 in all, at most 10 at a time");
    }
}
