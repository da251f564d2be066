//! LoopBench: writes healthy look-alikes and loops, and measures how well a detector tells them apart.

mod clock;
mod conversation;
mod generate;
mod material;
mod rng;
mod run;
mod shapes;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

/// Measures loop detectors on generated and rebuilt agent runs.
#[derive(Parser)]
#[command(name = "loopbench", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
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
}

fn main() -> anyhow::Result<()> {
    match Cli::parse().command {
        Command::Generate { out, seeds, shape } => generate::generate(&out, seeds, &shape),
    }
}
