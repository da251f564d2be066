//! What programs print.

use super::words::{ADJECTIVES, MODULES, NOUNS, VERBS};
use crate::rng::Rng;

/// Runners of tests, by the summary line they end with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Runner {
    Pytest,
    Cargo,
    Jest,
    Go,
}

impl Runner {
    pub(crate) const ALL: [Runner; 4] = [Runner::Pytest, Runner::Cargo, Runner::Jest, Runner::Go];

    pub(crate) fn command(self, rng: &mut Rng) -> String {
        let commands: &[&str] = match self {
            Runner::Pytest => &["pytest -q 2>&1 | tail -1", "python -m pytest tests -x -q | tail -n 2", "pytest -q"],
            Runner::Cargo => &["cargo test 2>&1 | grep '^test result'", "cargo test --quiet 2>&1 | tail -1"],
            Runner::Jest => &["npx jest --silent 2>&1 | tail -4", "npm test --silent 2>&1 | tail -4"],
            Runner::Go => &["go test ./... 2>&1 | tail -3", "go test ./internal/... | grep -c FAIL"],
        };
        rng.pick(commands).to_owned()
    }

    /// The summary of a run with so many failures.
    pub(crate) fn summary(self, rng: &mut Rng, failed: usize, passed: usize) -> String {
        let (hundredths, seconds) = (rng.range(10..=99), rng.range(1..=4));
        match (self, failed) {
            (Runner::Pytest, 0) => format!("{passed} passed in {seconds}.{hundredths}s"),
            (Runner::Pytest, _) => format!("{failed} failed, {passed} passed in {seconds}.{hundredths}s"),
            (Runner::Cargo, _) => format!(
                "test result: {}. {passed} passed; {failed} failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.{hundredths}s",
                if failed == 0 { "ok" } else { "FAILED" }
            ),
            (Runner::Jest, _) => format!(
                "Test Suites: {}3 total\nTests:       {failed} failed, {passed} passed, {} total\nSnapshots:   0 total\nTime:        {seconds}.{hundredths} s",
                if failed == 0 { "" } else { "1 failed, " },
                failed + passed
            ),
            (Runner::Go, 0) => format!("ok  \texample.com/app/internal\t0.{hundredths}s"),
            (Runner::Go, _) => format!("{failed} tests failed\nFAIL\texample.com/app/internal\t0.{hundredths}s\nFAIL"),
        }
    }
}

/// An error of a test or compiler that names what is wrong.
pub(crate) fn failure(rng: &mut Rng) -> String {
    let (module, noun, verb) = (rng.pick(MODULES), rng.pick(NOUNS), rng.pick(VERBS));
    let line = rng.range(8..=420);
    match rng.below(6) {
        0 => format!(
            "FAILED tests/test_{module}.py::test_{verb}_{noun} - AssertionError: {noun} is not {}",
            rng.pick(ADJECTIVES)
        ),
        1 => format!(
            "error[E0308]: mismatched types\n  --> src/{module}/{noun}.rs:{line}:9\n   expected `{noun}`, found `{}`",
            rng.pick(NOUNS)
        ),
        2 => format!(
            "packages/{module}/src/{noun}.ts({line},5): error TS2345: Argument '{verb}' is not assignable to '{}'.",
            rng.pick(NOUNS)
        ),
        3 => format!(
            "--- FAIL: Test{verb}{noun} (0.00s)\n    {module}_test.go:{line}: want {}, got nothing",
            rng.pick(ADJECTIVES)
        ),
        4 => format!("AttributeError: '{module}' object has no attribute '{verb}_{noun}'"),
        _ => format!("thread 'main' panicked at src/{module}.rs:{line}:13:\n{} {noun} in {verb}", rng.pick(ADJECTIVES)),
    }
}

/// A command that lints, with what it prints about so many problems.
#[derive(Clone, Copy)]
pub(crate) struct Linter {
    pub(crate) command: &'static str,
    summary: &'static str,
}

impl Linter {
    pub(crate) const ALL: [Linter; 3] = [
        Linter { command: "npx eslint src --quiet | tail -2", summary: "✖ {} problems ({} errors, 0 warnings)" },
        Linter { command: "npx tsc --noEmit | tail -1", summary: "Found {} errors in 4 files." },
        Linter { command: "ruff check . | tail -1", summary: "Found {} errors." },
    ];

    pub(crate) fn summary(self, problems: usize) -> String {
        self.summary.replace("{}", &problems.to_string())
    }
}

/// A benchmark whose times are around `micros`.
pub(crate) fn benchmark(rng: &mut Rng, names: &[&str], micros: i64) -> String {
    let mut row = |name: &&str| {
        let mean = micros + rng.range(-micros / 50..=micros / 50);
        format!("{name:<22} {:>9.2} µs  ± {:>5.2}\n", mean as f64 / 10.0, rng.range(4..=40) as f64 / 10.0)
    };
    names.iter().map(&mut row).collect()
}

pub(crate) fn git_status(files: &[String]) -> String {
    let changed: String = files.iter().map(|file| format!("\tmodified:   {file}\n")).collect();
    format!(
        "On branch work\nChanges not staged for commit:\n  (use \"git add <file>...\" to update what will be committed)\n{changed}\nno changes added to commit"
    )
}

pub(crate) fn listing(files: &[String]) -> String {
    files.iter().map(|file| format!("{}\n", file.rsplit('/').next().unwrap_or(file))).collect()
}

/// The checks of a pull request: those before `done` have passed.
pub(crate) fn checks(names: &[&str], done: usize, seconds: i64) -> String {
    let row = |(place, name): (usize, &&str)| match place {
        place if place < done => format!("{name}\tpass\t{}s\thttps://ci.example.com/{name}\n", 31 + place * 17),
        _ => format!("{name}\tpending\t{seconds}s\thttps://ci.example.com/{name}\n"),
    };
    names.iter().enumerate().map(row).collect()
}
