//! `score`: runs detectors over files and says what they stopped.

mod command;
mod report;
mod runs;
mod totals;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use crate::baselines::Baseline;
use crate::reading::{self, Line};
pub(crate) use command::Program;
pub(crate) use report::Report;
pub(crate) use runs::Run;
pub(crate) use totals::{Scores, Totals};

/// A detector to measure.
#[derive(Clone, Debug)]
pub(crate) enum Detector {
    Baseline(Baseline),
    Program(Program),
}

/// What a detector said of all runs.
pub(crate) struct Verdicts {
    pub(crate) killed_at: HashMap<String, Option<usize>>,
    pub(crate) took: Duration,
}

impl Detector {
    /// A baseline by its name, `agentgazer`, or `NAME=COMMAND` for any other program.
    pub(crate) fn parse(text: &str, agentgazer: &Path) -> anyhow::Result<Detector> {
        if let Some(baseline) = Baseline::parse(text) {
            return Ok(Detector::Baseline(baseline));
        }
        if let Some((name, command)) = text.split_once('=') {
            return Ok(Detector::Program(Program::shell(name, command)));
        }
        if text == "agentgazer" {
            return Ok(Detector::Program(Program::agentgazer(agentgazer)));
        }
        let names: Vec<String> = Baseline::ALL.iter().map(|baseline| baseline.name()).collect();
        bail!("--detector {text}: must be agentgazer, {} or NAME=COMMAND", names.join(", "))
    }

    pub(crate) fn name(&self) -> String {
        match self {
            Detector::Baseline(baseline) => baseline.name(),
            Detector::Program(program) => program.name.clone(),
        }
    }

    fn judge(&self, files: &[PathBuf]) -> anyhow::Result<Verdicts> {
        match self {
            Detector::Baseline(baseline) => judge_with(*baseline, files),
            Detector::Program(program) => program.judge(files),
        }
    }
}

/// Runs a baseline over all files; the time includes reading the calls, as it does for programs.
fn judge_with(baseline: Baseline, files: &[PathBuf]) -> anyhow::Result<Verdicts> {
    let mut verdicts = Verdicts { killed_at: HashMap::new(), took: Duration::ZERO };
    for file in files {
        for (number, text) in reading::lines(file)?.enumerate() {
            let text = text?;
            let start = Instant::now();
            let place = || format!("{}:{}", file.display(), number + 1);
            let line = Line::read(&text).with_context(place)?;
            let killed_at = baseline.killed_at(&line).with_context(place)?;
            verdicts.took += start.elapsed();
            verdicts.killed_at.insert(line.id.clone(), killed_at);
        }
    }
    Ok(verdicts)
}

/// Measures detectors on files.
pub(crate) fn score(detectors: &[Detector], files: &[PathBuf]) -> anyhow::Result<Report> {
    let runs = runs::read(files)?;
    let mut report = Report::default();
    for detector in detectors {
        let verdicts = detector.judge(files)?;
        report.add(&detector.name(), Scores::of(&runs, &verdicts)?);
    }
    Ok(report)
}

/// The files that are named, and the `.jsonl` and `.jsonl.gz` files of the directories that are.
pub(crate) fn files(paths: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let entries = std::fs::read_dir(path).with_context(|| format!("reading {}", path.display()))?;
        let mut inside: Vec<PathBuf> =
            entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
        inside
            .retain(|path| path.to_string_lossy().ends_with(".jsonl") || path.to_string_lossy().ends_with(".jsonl.gz"));
        inside.sort();
        files.extend(inside);
    }
    if files.is_empty() {
        bail!("no .jsonl or .jsonl.gz file in {paths:?}");
    }
    Ok(files)
}
