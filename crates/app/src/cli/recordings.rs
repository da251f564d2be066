//! The commands that read and write recordings.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// The arguments of `replay`. Several values of a setting are compared side by side.
#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// Recordings as JSON Lines, plain, .gz or .zst; - for standard input
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// How many calls to compare (2 to 500)
    #[arg(long, value_name = "CALLS", value_delimiter = ',', default_values_t = [20])]
    pub window: Vec<u64>,
    /// The score that must be exceeded
    #[arg(long, value_name = "SCORE", value_delimiter = ',', default_values_t = [10.0])]
    pub threshold: Vec<f64>,
    /// What counts as a repetition
    #[arg(long, value_name = "COUNTING", value_delimiter = ',', default_values_t = [CountingArg::Adaptive])]
    pub counting: Vec<CountingArg>,
    /// Also sum up each half of the runs, split by a hash of their ids: a rule that fits by chance
    /// fits only one half
    #[arg(long)]
    pub halves: bool,
    /// Print one JSON object per run, and a last one with the totals
    #[arg(long)]
    pub json: bool,
}

/// The arguments of `export`.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// Only calls of this agent
    #[arg(long, value_name = "AGENT")]
    pub agent: Option<String>,
    /// All scored calls as fingerprints, instead of the incidents with their bodies
    #[arg(long)]
    pub fingerprints: bool,
    /// The data directory [env: AGENTGAZER_DATA_DIR]
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<String>,
    /// The configuration file
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

/// What counts as a repetition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "the names say it")]
pub enum CountingArg {
    Adaptive,
    Literal,
}

impl CountingArg {
    /// The setting.
    pub fn counting(self) -> model::Counting {
        match self {
            CountingArg::Adaptive => model::Counting::Adaptive,
            CountingArg::Literal => model::Counting::Literal,
        }
    }
}

impl std::fmt::Display for CountingArg {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.counting().as_str())
    }
}
