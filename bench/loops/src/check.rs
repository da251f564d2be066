//! `check`: fails when the detector has got worse than `expected.json` says.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};

use crate::reading::Line;
use crate::score::{Program, Run, Scores, Totals};
use crate::shapes;

/// The figures that are checked in.
#[derive(Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expected {
    /// How many runs of each shape and form were measured.
    seeds: u64,
    healthy: u64,
    healthy_stopped: u64,
    loops: u64,
    loops_stopped: u64,
    /// Shapes that are judged wrongly, with how many runs of them.
    healthy_stopped_by_shape: BTreeMap<String, u64>,
    loops_missed_by_shape: BTreeMap<String, u64>,
}

impl Expected {
    fn of(seeds: u64, scores: &Scores) -> Expected {
        let wrong = |count: fn(&Totals) -> u64| {
            let counts = scores.shapes.iter().map(|(shape, totals)| (shape.clone(), count(totals)));
            counts.filter(|(_, count)| *count > 0).collect()
        };
        Expected {
            seeds,
            healthy: scores.all.healthy,
            healthy_stopped: scores.all.healthy_stopped,
            loops: scores.all.loops,
            loops_stopped: scores.all.loops_stopped,
            healthy_stopped_by_shape: wrong(|totals| totals.healthy_stopped),
            loops_missed_by_shape: wrong(|totals| totals.loops - totals.loops_stopped),
        }
    }

    /// What is worse than it was, in words.
    fn complaints(&self, measured: &Expected) -> Vec<String> {
        let mut complaints = Vec::new();
        if (self.healthy, self.loops) != (measured.healthy, measured.loops) {
            complaints.push("the shapes have changed".to_owned());
        }
        if measured.healthy_stopped > self.healthy_stopped {
            complaints
                .push(format!("healthy runs stopped: {}, were {}", measured.healthy_stopped, self.healthy_stopped));
            complaints.extend(risen(&self.healthy_stopped_by_shape, &measured.healthy_stopped_by_shape));
        }
        if measured.loops_stopped < self.loops_stopped {
            complaints.push(format!("loops stopped: {}, were {}", measured.loops_stopped, self.loops_stopped));
            complaints.extend(risen(&self.loops_missed_by_shape, &measured.loops_missed_by_shape));
        }
        complaints
    }
}

/// The shapes of which more runs are judged wrongly than before.
fn risen(before: &BTreeMap<String, u64>, now: &BTreeMap<String, u64>) -> Vec<String> {
    let was = |shape: &String| before.get(shape).copied().unwrap_or(0);
    now.iter()
        .filter(|(shape, count)| **count > was(shape))
        .map(|(shape, count)| format!("  {shape}: {count} runs wrong, were {}", was(shape)))
        .collect()
}

/// Measures `agentgazer` on the generated runs and compares with the file, or writes it anew.
pub(crate) fn check(agentgazer: &Path, file: &Path, update: Option<u64>) -> anyhow::Result<()> {
    let expected = read(file);
    let seeds = match (&expected, update) {
        (_, Some(seeds)) => seeds,
        (Ok(expected), None) => expected.seeds,
        (Err(_), None) => return expected.map(|_| ()),
    };
    let measured = Expected::of(seeds, &measure(&Program::agentgazer(agentgazer), seeds)?);
    let mut out = anstream::stdout();
    writeln!(out, "healthy stopped {} of {}", measured.healthy_stopped, measured.healthy)?;
    writeln!(out, "loops stopped {} of {}", measured.loops_stopped, measured.loops)?;
    if update.is_some() {
        let text = serde_json::to_string_pretty(&measured)?;
        return fs::write(file, text + "\n").with_context(|| format!("writing {}", file.display()));
    }
    let expected = expected?;
    let complaints = expected.complaints(&measured);
    if !complaints.is_empty() {
        bail!("the detector got worse:\n{}\nIf that is meant: loopbench check --update", complaints.join("\n"));
    }
    if measured != expected {
        writeln!(out, "better than {}: refresh it with loopbench check --update", file.display())?;
    }
    Ok(())
}

fn read(file: &Path) -> anyhow::Result<Expected> {
    let text = fs::read_to_string(file).with_context(|| format!("reading {}", file.display()))?;
    serde_json::from_str(&text).with_context(|| format!("reading {}", file.display()))
}

/// Generates all shapes and pipes them through the program.
fn measure(program: &Program, seeds: u64) -> anyhow::Result<Scores> {
    let mut runs = Vec::new();
    let verdicts = program.judge_lines(|out| {
        for shape in shapes::all() {
            for text in (0..seeds).flat_map(|seed| shape.lines(seed)) {
                runs.push(Run::of(&Line::read(&text)?, &shape.name));
                writeln!(out, "{text}")?;
            }
        }
        Ok(())
    })?;
    Scores::of(&runs, &verdicts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(healthy_stopped: u64, loops_stopped: u64) -> Expected {
        Expected { seeds: 1, healthy: 10, healthy_stopped, loops: 10, loops_stopped, ..Expected::default() }
    }

    #[test]
    fn only_worse_figures_are_reported() {
        let expected = figures(2, 8);
        assert!(expected.complaints(&figures(2, 8)).is_empty());
        assert!(expected.complaints(&figures(1, 9)).is_empty());
        assert_eq!(expected.complaints(&figures(3, 7)).len(), 2);
        let mut missed = figures(2, 7);
        missed.loops_missed_by_shape.insert("cycle_2".to_owned(), 3);
        assert!(expected.complaints(&missed)[1].contains("cycle_2: 3 runs wrong, were 0"));
    }
}
