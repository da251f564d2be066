//! LoopBench: writes healthy look-alikes and loops, and measures how well a detector tells them
//! apart.

mod baselines;
mod check;
mod cli;
mod clock;
mod conversation;
mod generate;
mod import;
mod material;
mod reading;
mod rng;
mod run;
mod score;
mod shapes;

use std::io::Write;

use clap::Parser;

use cli::{Cli, Command, ScoreArgs};
use score::Detector;

fn main() -> anyhow::Result<()> {
    match Cli::parse().command {
        Command::Generate { out, seeds, shape } => generate::generate(&out, seeds, &shape),
        Command::Score(args) => print_scores(&args),
        Command::Import { source, files, solved } => import::import(source, &files, solved.as_deref()),
        Command::Check { agentgazer, expected, update, seeds } => {
            check::check(&agentgazer, &expected, update.then_some(seeds))
        }
    }
}

fn print_scores(args: &ScoreArgs) -> anyhow::Result<()> {
    let detectors = args.detector.iter().map(|text| Detector::parse(text, &args.agentgazer));
    let detectors: Vec<Detector> = detectors.collect::<anyhow::Result<_>>()?;
    let report = score::score(&detectors, &score::files(&args.paths)?)?;
    let mut out = anstream::stdout();
    if args.json {
        writeln!(out, "{}", report.json())?;
        return Ok(());
    }
    write!(out, "{}", report.table(args.markdown))?;
    if args.by_shape || args.wrong {
        write!(out, "{}", report.shape_tables(args.wrong, args.markdown))?;
    }
    Ok(())
}
