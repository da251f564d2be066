//! `replay`: runs the detector over recorded conversations and reports what it would have stopped.
//! Bodies are read by `wire` and judged by `guard`, as live; each run is a new agent with the kill
//! switch on.

mod calls;
mod judged;
mod lines;
mod messages;
mod report;
mod run;
mod totals;

use std::path::Path;

use indicatif::{ProgressBar, ProgressStyle};
use model::{FieldError, KillSwitch, KillSwitchChange};

use crate::cli::ReplayArgs;
use crate::exit::{Exit, Failure};
use judged::JudgedRun;
use lines::Lines;
use report::Report;
use run::Run;

/// Parses one line of a replay file. An error says what is wrong. For the fuzzer.
pub fn check_replay_line(line: &[u8]) -> Result<(), String> {
    Run::read(line, "line").map(drop)
}

/// `replay FILE…`.
pub fn replay(args: &ReplayArgs) -> Result<(), Failure> {
    let settings = settings(args).map_err(|error| Failure::new(Exit::Usage, error))?;
    let mut report = Report::new(&settings, args.json, args.halves);
    let bytes = args.files.iter().map(|file| lines::size(file)).sum();
    let progress = progress(bytes);
    let mut bad_lines = 0;
    for file in &args.files {
        bad_lines += replay_file(file, &settings, &progress, &mut report)?;
    }
    progress.finish_and_clear();
    report.finish()?;
    match bad_lines {
        0 => Ok(()),
        1 => Err(Failure::new(Exit::Failed, "1 line could not be read")),
        count => Err(Failure::new(Exit::Failed, format!("{count} lines could not be read"))),
    }
}

/// Every requested combination.
fn settings(args: &ReplayArgs) -> Result<Vec<KillSwitch>, FieldError> {
    let mut settings = Vec::new();
    for counting in &args.counting {
        for window in &args.window {
            for threshold in &args.threshold {
                let change = KillSwitchChange {
                    enabled: Some(true),
                    window_size: Some(*window),
                    threshold: Some(*threshold),
                    action: None,
                    counting: Some(counting.counting()),
                };
                settings.push(change.apply(KillSwitch::default())?);
            }
        }
    }
    Ok(settings)
}

/// Replays one file. Returns the number of unreadable lines; each is named on stderr.
fn replay_file(
    file: &Path,
    settings: &[KillSwitch],
    progress: &ProgressBar,
    report: &mut Report,
) -> Result<u64, Failure> {
    let mut bad_lines = 0;
    let mut lines = Lines::open(file, progress)?;
    let name = lines.name.clone();
    report.begin_file(&name);
    while let Some((number, line)) = lines.next()? {
        let place = format!("{name}:{number}");
        match Run::read(line, &place) {
            Ok(run) => report.add_run(&run, &JudgedRun::under_all(&run, settings))?,
            Err(reason) => {
                bad_lines += 1;
                progress.suspend(|| report::report_unreadable(&place, &reason));
            }
        }
    }
    Ok(bad_lines)
}

/// Shown on a terminal only.
fn progress(bytes: u64) -> ProgressBar {
    let bar = ProgressBar::new(bytes);
    let style = ProgressStyle::with_template("{wide_bar} {bytes}/{total_bytes} {bytes_per_sec}");
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
