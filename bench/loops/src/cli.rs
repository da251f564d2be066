//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::import::Source;

/// Measures loop detectors on generated and rebuilt agent runs.
#[derive(Parser)]
#[command(name = "loopbench", version)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Write healthy.jsonl and loops.jsonl.
    Generate {
        /// The directory to write to.
        #[arg(long)]
        out: PathBuf,
        /// How many runs of each shape and form.
        #[arg(long, default_value_t = 3)]
        seeds: u64,
        /// Only shapes whose name contains this.
        #[arg(long, default_value = "")]
        shape: String,
    },
    /// Run detectors over files and print what they stopped.
    Score(ScoreArgs),
    /// Print public runs as replay lines, read from files of their source.
    Import {
        /// Where the files come from.
        source: Source,
        /// The files.
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// Ids of the runs that solved their task, as a JSON list or one per line, where the files
        /// do not say it.
        #[arg(long)]
        solved: Option<PathBuf>,
    },
    /// Fail if agentgazer stops more healthy runs or fewer loops than expected.json says.
    Check {
        /// The program to measure.
        #[arg(long, default_value = "target/debug/agentgazer")]
        agentgazer: PathBuf,
        /// The figures to compare with.
        #[arg(long, default_value = "bench/loops/expected.json")]
        expected: PathBuf,
        /// Write the figures instead of comparing them.
        #[arg(long)]
        update: bool,
        /// How many runs of each shape and form `--update` measures.
        #[arg(long, default_value_t = 1)]
        seeds: u64,
    },
}

#[derive(Args)]
pub(crate) struct ScoreArgs {
    /// agentgazer, literal, identical-3, identical-5, openhands, gemini-cli, or NAME=COMMAND for
    /// any program that reads replay lines from the file it is given and prints {"id","killed_at"}
    /// for each.
    #[arg(long, required = true, value_delimiter = ',')]
    pub(crate) detector: Vec<String>,
    /// The program that the detector agentgazer is.
    #[arg(long, default_value = "target/debug/agentgazer")]
    pub(crate) agentgazer: PathBuf,
    /// A row for each shape, too.
    #[arg(long)]
    pub(crate) by_shape: bool,
    /// A row for each shape that is judged wrongly.
    #[arg(long)]
    pub(crate) wrong: bool,
    /// Tables as Markdown.
    #[arg(long)]
    pub(crate) markdown: bool,
    /// Everything as JSON.
    #[arg(long, conflicts_with_all = ["markdown", "by_shape", "wrong"])]
    pub(crate) json: bool,
    /// Files, or directories with .jsonl and .jsonl.gz files.
    #[arg(required = true)]
    pub(crate) paths: Vec<PathBuf>,
}
