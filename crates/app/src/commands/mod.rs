//! The commands, one file per group, and what they have in common: settings, runtimes and output.

mod agents;
mod alerts;
mod channels;
mod costs;
pub(crate) mod drill;
mod exemptions;
mod export;
mod figures;
mod groups;
mod incidents;
mod keys;
mod kill_switch;
mod migrate;
mod move_data;
mod new_agent;
mod people;
mod policy;
pub(crate) mod print;
mod provider;
mod start;
mod tls;
mod token;
mod top;

use std::path::PathBuf;

use clap::CommandFactory;
use secrecy::SecretString;

pub use agents::{activate, deactivate, list as agents};
pub use alerts::alerts;
pub use costs::costs;
pub(crate) use drill::MODEL as DRILL_MODEL;
pub use drill::drill;
pub use exemptions::exemptions;
pub use export::export;
pub use groups::groups;
pub use incidents::incidents;
pub use keys::keys;
pub use kill_switch::kill_switch;
pub use migrate::migrate;
pub use move_data::move_database;
pub use people::{audit, tokens, users};
pub use policy::policy;
pub use provider::provider;
pub use start::start;
pub use tls::tls;
pub use token::token;
pub use top::top;

pub use crate::demo::demo;
pub use crate::replay::replay;

use crate::cli::{Cli, ServerArgs};
use crate::client::Client;
use crate::config::{self, Config, Entry, Sources};
use crate::data_dir::{self, Addresses};
use crate::exit::{Exit, Failure};
use crate::tls::Trust;

/// `completions SHELL`.
pub fn completions(shell: clap_complete::Shell) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "agentgazer", &mut script);
    print::raw(&script)
}

/// Puts the settings of all layers together, for a command.
pub(crate) fn resolve(file: Option<PathBuf>, flags: Vec<Entry>) -> Result<Config, Failure> {
    resolve_layers(file, flags, false)
}

/// Puts the settings of all layers together, for a server.
pub(crate) fn resolve_for_server(file: Option<PathBuf>, flags: Vec<Entry>) -> Result<Config, Failure> {
    resolve_layers(file, flags, true)
}

fn resolve_layers(file: Option<PathBuf>, flags: Vec<Entry>, for_server: bool) -> Result<Config, Failure> {
    let text = |value: std::ffi::OsString| value.into_string().ok();
    let environment = std::env::vars_os().filter_map(|(name, value)| Some((text(name)?, text(value)?)));
    let default_data_dir = config::default_data_dir(|name| std::env::var(name).ok());
    let known = wire::builtin_providers();
    config::resolve(Sources {
        file,
        environment: environment.collect(),
        flags,
        known: &known,
        // Only a process without a home has none, such as a service: beside its own files is where
        // it would be looked for.
        default_data_dir: default_data_dir.unwrap_or_else(|| PathBuf::from("agentgazer-data")),
        for_server,
    })
    .map_err(|mistakes| Failure::new(Exit::Usage, mistakes))
}

/// The settings that say where a server is.
fn resolve_for_client(args: &ServerArgs) -> Result<Config, Failure> {
    let flags = [("--token", "token", &args.token), ("--data-dir", "data_dir", &args.data_dir)];
    let flags = flags.into_iter().filter_map(|(flag, key, value)| Some(Entry::flag(flag, key, value.as_ref()?)));
    resolve(args.config.clone(), flags.collect())
}

/// A client of the server that `args` mean.
pub(crate) fn client(args: &ServerArgs) -> Result<Client, Failure> {
    let config = resolve_for_client(args)?;
    let given = args.url.clone().or_else(|| std::env::var("AGENTGAZER_URL").ok());
    let found = if given.is_some() { None } else { Addresses::read(&config.data_dir) };
    let trust = trust(args, found.as_ref());
    let url = given.or_else(|| found.map(|addresses| addresses.dashboard));
    let token = match known_token(&config) {
        Err(failure) if failure.exit == Exit::NotFound && url.is_none() => return Err(no_server(&config)),
        other => other?,
    };
    Client::new(&url.unwrap_or_else(|| default_url(&config)), token, &trust)
}

/// What a command trusts: the authorities it was given, else what the server wrote down that was
/// found in the data directory.
pub(crate) fn trust(args: &ServerArgs, found: Option<&Addresses>) -> Trust {
    let authorities = args.ca.clone().or_else(|| std::env::var_os("AGENTGAZER_CA").map(PathBuf::from));
    let found = || found.map(Addresses::trust).unwrap_or_default();
    authorities.map_or_else(found, Trust::Authorities)
}

/// Neither a token nor an address: no server was ever started here.
fn no_server(config: &Config) -> Failure {
    let message = format!(
        "no server: none was started on the data directory {}. Start one with `agentgazer start`, or say where it is with \
         --url and --token",
        config.data_dir.display()
    );
    Failure::new(Exit::Unreachable, message)
}

/// Where a server with this configuration would be.
fn default_url(config: &Config) -> String {
    let host = if config.bind.is_unspecified() { std::net::IpAddr::from([127, 0, 0, 1]) } else { config.bind };
    format!("{}://{}", config.tls.scheme(), std::net::SocketAddr::new(host, config.port))
}

/// The token that was set, else the one that was made.
pub(crate) fn known_token(config: &Config) -> Result<SecretString, Failure> {
    if let Some(token) = &config.token {
        return Ok(token.clone());
    }
    data_dir::read_token(&config.data_dir)?.ok_or_else(|| {
        let place = config.data_dir.display();
        let message = format!("there is no token in {place}: `agentgazer start` makes one, or use --token");
        Failure::new(Exit::NotFound, message)
    })
}

/// Runs a command that only asks a server something.
pub(crate) fn on_one_thread<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(work)
}

/// Runs a command that serves. With one core there is nobody to share the work with, and sharing
/// costs.
pub(crate) fn on_all_cores<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    if std::thread::available_parallelism().is_ok_and(|cores| cores.get() == 1) {
        return on_one_thread(work);
    }
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(work)
}
