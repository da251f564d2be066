//! The binary: reads the command line, runs the command, ends with its exit code.

use std::io::Write;
use std::process::ExitCode;

use app::allocator;
use app::cli::{Cli, Command};
use app::commands;
use app::exit::{Exit, Failure};
use clap::Parser;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match run(Cli::parse().command) {
        Ok(()) => Exit::Ok.into(),
        Err(failure) if failure.is_broken_pipe() => Exit::Ok.into(),
        Err(failure) => {
            // If even that cannot be written, the exit code still tells.
            let _ = writeln!(anstream::stderr(), "agentgazer: {:#}", failure.error);
            failure.exit.into()
        }
    }
}

fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Start(args) => {
            allocator::ensure_options();
            commands::start(&args)
        }
        Command::Demo(args) => commands::demo(&args),
        Command::Replay(args) => commands::replay(&args),
        Command::Export(args) => commands::export(&args),
        Command::Migrate(args) => commands::migrate(&args),
        Command::Move(args) => commands::move_database(&args),
        Command::Agents(args) => commands::agents(&args),
        Command::Incidents(args) => commands::incidents(&args),
        Command::Exemptions(args) => commands::exemptions(&args),
        Command::Costs(args) => commands::costs(&args),
        Command::Top(args) => commands::top(&args),
        Command::Activate(args) => commands::activate(&args),
        Command::Deactivate(args) => commands::deactivate(&args),
        Command::KillSwitch(args) => commands::kill_switch(&args),
        Command::Alerts(args) => commands::alerts(&args),
        Command::Drill(args) => commands::drill(&args),
        Command::Policy(args) => commands::policy(&args),
        Command::Keys(args) => commands::keys(&args),
        Command::Groups(args) => commands::groups(&args),
        Command::Labels(args) => commands::labels(&args),
        Command::Users(args) => commands::users(&args),
        Command::Tokens(args) => commands::tokens(&args),
        Command::Audit(args) => commands::audit(&args),
        Command::Token(args) => commands::token(&args),
        Command::Tls(args) => commands::tls(&args),
        Command::Completions { shell } => commands::completions(shell),
        Command::Provider(args) => commands::provider(&args),
    }
}
