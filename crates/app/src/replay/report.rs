//! The output: a line per stopped run and a table, or JSON objects.

use std::io::Write;

use model::{KillSwitch, SignalCounts};
use serde::Serialize;

use super::judged::JudgedRun;
use super::run::{Kind, Run};
use super::totals::{Totals, TotalsReport};
use crate::exit::Failure;
use crate::print;
use crate::text;

/// Collects and prints results.
pub(super) struct Report {
    settings: Vec<KillSwitch>,
    json: bool,
    halves: bool,
    file: String,
    /// The rows of the table by name: each file, then all files; or their halves.
    groups: Vec<Group>,
    stopped: Vec<Vec<String>>,
}

/// A group of runs, summed up under every setting.
struct Group {
    name: String,
    totals: Vec<Totals>,
}

#[derive(Serialize)]
struct RunLine<'a> {
    file: &'a str,
    id: &'a str,
    calls: usize,
    killed_at: Option<usize>,
    score: f64,
    signals: SignalCounts,
    #[serde(skip_serializing_if = "Option::is_none")]
    settings: Option<Settings>,
}

#[derive(Serialize)]
struct TotalsLine {
    #[serde(flatten)]
    totals: TotalsReport,
    settings: Settings,
}

#[derive(Serialize)]
struct Settings {
    window_size: u16,
    threshold: f64,
    counting: &'static str,
}

const ALL: &str = "all";

impl Report {
    pub(super) fn new(settings: &[KillSwitch], json: bool, halves: bool) -> Report {
        let file = String::new();
        Report { settings: settings.to_vec(), json, halves, file, groups: Vec::new(), stopped: Vec::new() }
    }

    /// Begins a file; the next runs belong to it.
    pub(super) fn begin_file(&mut self, name: &str) {
        self.file = name.to_owned();
    }

    /// Adds a run, judged under every setting.
    pub(super) fn add_run(&mut self, run: &Run, judged: &[JudgedRun]) -> Result<(), Failure> {
        if self.json {
            for (kill_switch, judged) in self.settings.iter().zip(judged) {
                self.print_run(run, *kill_switch, judged)?;
            }
        } else if let [judged] = judged {
            self.stopped.extend(stopped_row(&self.file, run, judged));
        }
        let half = if self.halves { Some(half(&run.id)) } else { None };
        for name in [Some(self.file.clone()), half.map(str::to_owned), Some(ALL.to_owned())].into_iter().flatten() {
            self.group(name).iter_mut().zip(judged).for_each(|(totals, judged)| totals.add(run, judged));
        }
        Ok(())
    }

    /// Prints the totals.
    pub(super) fn finish(mut self) -> Result<(), Failure> {
        let all = self.group(ALL.to_owned()).iter().map(Totals::report).collect::<Vec<_>>();
        if self.json {
            return self.print_totals(all);
        }
        let stopped = ["FILE", "RUN", "CALL", "SCORE", "SIGNALS", ""];
        if !self.stopped.is_empty() {
            print::table(&stopped, std::mem::take(&mut self.stopped), "")?;
            print::line("")?;
        }
        let rows = if all.iter().all(|totals| totals.runs == 0) { Vec::new() } else { self.rows() };
        print::table(&HEADER, rows, "No runs.")
    }

    fn group(&mut self, name: String) -> &mut [Totals] {
        let known = self.groups.iter().position(|group| group.name == name);
        let place = known.unwrap_or_else(|| {
            self.groups.push(Group { name, totals: vec![Totals::default(); self.settings.len()] });
            self.groups.len() - 1
        });
        &mut self.groups[place].totals
    }

    /// Files in their order, then the groups of all runs.
    fn rows(&mut self) -> Vec<Vec<String>> {
        self.groups.sort_by_key(|group| [HALVES[0], HALVES[1], ALL].iter().position(|name| *name == group.name));
        let mut rows = Vec::new();
        for group in &self.groups {
            let settings = self.settings.iter().zip(&group.totals);
            rows.extend(settings.map(|(settings, totals)| row(&group.name, *settings, &totals.report())));
        }
        rows
    }

    fn print_run(&self, run: &Run, kill_switch: KillSwitch, judged: &JudgedRun) -> Result<(), Failure> {
        print_json(&RunLine {
            file: &self.file,
            id: &run.id,
            calls: run.calls.len(),
            killed_at: judged.killed_at,
            score: judged.score.value,
            signals: judged.score.signals,
            settings: (self.settings.len() > 1).then(|| Settings::from(kill_switch)),
        })
    }

    fn print_totals(&self, all: Vec<TotalsReport>) -> Result<(), Failure> {
        let with_settings = |(totals, kill_switch): (TotalsReport, &KillSwitch)| TotalsLine {
            totals,
            settings: Settings::from(*kill_switch),
        };
        let mut lines: Vec<TotalsLine> = all.into_iter().zip(&self.settings).map(with_settings).collect();
        match lines.len() {
            1 => print_json(&lines.remove(0)),
            _ => print_json(&serde_json::json!({ "totals": lines })),
        }
    }
}

impl From<KillSwitch> for Settings {
    fn from(kill_switch: KillSwitch) -> Settings {
        let KillSwitch { window_size, threshold, counting, .. } = kill_switch;
        Settings { window_size, threshold, counting: counting.as_str() }
    }
}

/// Reports an unreadable line and the reason. The rest is still measured.
pub(super) fn report_unreadable(place: &str, reason: &str) {
    let _ = writeln!(anstream::stderr(), "agentgazer: {}: {}", text::printable(place), text::printable(reason));
}

const HALVES: [&str; 2] = ["first half", "second half"];

/// The half that a run belongs to, by a hash of its id.
fn half(id: &str) -> &'static str {
    HALVES[id.bytes().fold(0_u32, |hash, byte| hash.wrapping_mul(31) ^ u32::from(byte)).count_ones() as usize % 2]
}

const HEADER: [&str; 10] = [
    "RUNS OF",
    "COUNTING",
    "WINDOW",
    "THRESHOLD",
    "RUNS",
    "STOPPED",
    "HEALTHY STOPPED",
    "LOOPS STOPPED",
    "WASTED",
    "CALLS SAVED",
];

fn row(name: &str, settings: KillSwitch, totals: &TotalsReport) -> Vec<String> {
    let of = |part: u64, whole: u64| if whole == 0 { "-".to_owned() } else { format!("{part} of {whole}") };
    vec![
        name.to_owned(),
        settings.counting.as_str().to_owned(),
        settings.window_size.to_string(),
        settings.threshold.to_string(),
        totals.runs.to_string(),
        totals.stopped.to_string(),
        of(totals.healthy_stopped, totals.healthy),
        of(totals.loops_stopped, totals.loops),
        totals.calls_wasted.map_or_else(|| "-".to_owned(), |calls| calls.to_string()),
        of(totals.calls_saved, totals.calls),
    ]
}

fn stopped_row(file: &str, run: &Run, judged: &JudgedRun) -> Option<Vec<String>> {
    let SignalCounts { similar_prompts, similar_responses, repeated_tool_calls } = judged.score.signals;
    let kind = match run.kind {
        Kind::Healthy => "healthy",
        Kind::Loop => "loop",
        Kind::Other => "",
    };
    Some(vec![
        file.to_owned(),
        run.id.clone(),
        format!("{} of {}", judged.killed_at? + 1, run.calls.len()),
        format!("{:.1}", judged.score.value),
        format!("{similar_prompts} prompts, {similar_responses} responses, {repeated_tool_calls} tool calls"),
        kind.to_owned(),
    ])
}

fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    print::json(&serde_json::to_string(value)?)
}
