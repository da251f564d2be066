//! What is known of each run before a detector sees it.

use std::path::PathBuf;

use anyhow::Context;

use crate::reading::{self, Kind, Line};

/// One run, without its bodies.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) id: String,
    pub(crate) shape: String,
    pub(crate) kind: Kind,
    first_stuck_call: Option<usize>,
    stuck_calls: Vec<usize>,
    /// The tokens of each call.
    tokens: Vec<u64>,
}

/// Calls and tokens of a loop that a detector let through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Waste {
    pub(crate) calls: u64,
    pub(crate) tokens: u64,
}

impl Run {
    /// `group` is the shape of runs that have none: the name of their file.
    pub(crate) fn of(line: &Line<'_>, group: &str) -> Run {
        Run {
            id: line.id.clone(),
            shape: line.shape.clone().unwrap_or_else(|| group.to_owned()),
            kind: line.kind(),
            first_stuck_call: line.first_stuck_call,
            stuck_calls: line.stuck_calls.clone(),
            tokens: line.calls.iter().map(reading::Call::tokens).collect(),
        }
    }

    pub(crate) fn calls(&self) -> usize {
        self.tokens.len()
    }

    /// What was spent between the first stuck call and the kill, or the end. `None` if the first
    /// stuck call is unknown.
    pub(crate) fn waste(&self, killed_at: Option<usize>) -> Option<Waste> {
        let first = self.first_stuck_call?;
        let end = killed_at.unwrap_or(self.tokens.len()).max(first);
        let is_stuck = |place: &usize| self.stuck_calls.is_empty() || self.stuck_calls.binary_search(place).is_ok();
        let wasted = (first..end).filter(is_stuck).map(|place| self.tokens[place]);
        Some(wasted.fold(Waste::default(), |sum, tokens| Waste { calls: sum.calls + 1, tokens: sum.tokens + tokens }))
    }
}

/// Reads all runs of some files.
pub(crate) fn read(files: &[PathBuf]) -> anyhow::Result<Vec<Run>> {
    let mut runs = Vec::new();
    for file in files {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let group = name.split('.').next().unwrap_or_default();
        for (number, text) in reading::lines(file)?.enumerate() {
            let text = text?;
            let line = Line::read(&text).with_context(|| format!("{}:{}", file.display(), number + 1))?;
            runs.push(Run::of(&line, group));
        }
    }
    Ok(runs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waste_counts_stuck_calls_until_the_kill() {
        let run = Run {
            id: String::new(),
            shape: String::new(),
            kind: Kind::Loop,
            first_stuck_call: Some(2),
            stuck_calls: vec![2, 4, 6],
            tokens: vec![10; 8],
        };
        assert_eq!(run.waste(Some(5)), Some(Waste { calls: 2, tokens: 20 }));
        assert_eq!(run.waste(None), Some(Waste { calls: 3, tokens: 30 }));
        assert_eq!(run.waste(Some(1)), Some(Waste::default()));
        let plain = Run { stuck_calls: Vec::new(), ..run };
        assert_eq!(plain.waste(Some(5)), Some(Waste { calls: 3, tokens: 30 }));
    }
}
