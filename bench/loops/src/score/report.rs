//! Tables: of all detectors, and of one by shape.

use comfy_table::{Table, presets};
use serde_json::{Value, json};

use super::totals::{Scores, Shown};

/// What all detectors came to.
#[derive(Default)]
pub(crate) struct Report {
    detectors: Vec<(String, Scores)>,
}

const COLUMNS: [&str; 7] = [
    "healthy stopped",
    "loops stopped",
    "late",
    "calls wasted, median",
    "worst",
    "tokens wasted, median",
    "µs per call",
];

impl Report {
    pub(crate) fn add(&mut self, name: &str, scores: Scores) {
        self.detectors.push((name.to_owned(), scores));
    }

    /// One row per detector.
    pub(crate) fn table(&self, is_markdown: bool) -> String {
        let rows = self.detectors.iter().map(|(name, scores)| row(name, &scores.all.shown()));
        table("detector", &COLUMNS, rows.collect(), is_markdown)
    }

    /// One row per shape, for each detector a table.
    pub(crate) fn shape_tables(&self, only_wrong: bool, is_markdown: bool) -> String {
        let mut text = String::new();
        for (name, scores) in &self.detectors {
            let shapes = scores.shapes.iter().map(|(shape, totals)| (shape, totals.shown()));
            let rows = shapes
                .filter(|(_, shown)| !only_wrong || shown.healthy_stopped > 0 || shown.loops_stopped < shown.loops)
                .map(|(shape, shown)| row(shape, &shown));
            // The time is measured over all runs, not by shape.
            let columns = &COLUMNS[..COLUMNS.len() - 1];
            let rows = rows.map(|mut row| {
                row.pop();
                row
            });
            text += &format!("\n{name}\n\n{}", table("shape", columns, rows.collect(), is_markdown));
        }
        text
    }

    pub(crate) fn json(&self) -> Value {
        let detector = |(name, scores): &(String, Scores)| {
            let shapes: serde_json::Map<String, Value> =
                scores.shapes.iter().map(|(shape, totals)| (shape.clone(), json!(totals.shown()))).collect();
            json!({"detector": name, "all": scores.all.shown(), "shapes": shapes})
        };
        self.detectors.iter().map(detector).collect()
    }
}

fn row(name: &str, shown: &Shown) -> Vec<String> {
    let number = |number: Option<u64>| number.map_or_else(String::new, |number| number.to_string());
    let of = |part: u64, whole: u64| if whole == 0 { String::new() } else { format!("{part} of {whole}") };
    vec![
        name.to_owned(),
        of(shown.healthy_stopped, shown.healthy),
        of(shown.loops_stopped, shown.loops),
        of(shown.loops_late, shown.loops_stopped),
        number(shown.wasted_calls_median),
        number(shown.wasted_calls_worst),
        number(shown.wasted_tokens_median),
        format!("{:.0}", shown.micros_per_call),
    ]
}

fn table(first: &str, columns: &[&str], rows: Vec<Vec<String>>, is_markdown: bool) -> String {
    let header: Vec<&str> = std::iter::once(first).chain(columns.iter().copied()).collect();
    if is_markdown {
        let line = |cells: Vec<&str>| format!("| {} |\n", cells.join(" | "));
        let rule = format!("|{}\n", "---|".repeat(header.len()));
        let rows = rows.iter().map(|row| line(row.iter().map(String::as_str).collect()));
        return line(header) + &rule + &rows.collect::<String>();
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(header);
    table.add_rows(rows);
    format!("{table}\n")
}
