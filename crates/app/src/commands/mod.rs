//! The commands, one file per group, and how they find the server.

mod agents;
mod alerts;
mod data;
mod figures;
mod incidents;
mod people;
mod server;
mod top;

use std::path::PathBuf;

use clap::CommandFactory;
use secrecy::SecretString;

pub use agents::{activate, deactivate, exemptions, groups, keys, kill_switch, labels, list as agents, policy};
pub use alerts::alerts;
pub use data::{costs, export, migrate, move_database};
pub use incidents::incidents;
pub use people::{audit, tokens, users};
pub use server::{drill, provider, start, tls, token};
pub use top::top;

pub use crate::demo::demo;
pub use crate::replay::replay;

use crate::cli::{Cli, ServerArgs};
use crate::client::Client;
use crate::config::{self, Config, Entry};
use crate::data_dir::{self, Addresses};
use crate::exit::{Exit, Failure};
use crate::print;
use crate::tls::Trust;

/// `completions SHELL`.
pub fn completions(shell: clap_complete::Shell) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "agentgazer", &mut script);
    print::raw(&script)
}

/// The settings that locate a server.
fn resolve_for_client(args: &ServerArgs) -> Result<Config, Failure> {
    let flags = [("--token", "token", &args.token), ("--data-dir", "data_dir", &args.data_dir)];
    let flags = flags.into_iter().filter_map(|(flag, key, value)| Some(Entry::flag(flag, key, value.as_ref()?)));
    config::load(args.config.clone(), flags.collect())
}

/// A client of the server that `args` specify.
pub(crate) fn client(args: &ServerArgs) -> Result<Client, Failure> {
    let config = resolve_for_client(args)?;
    let given = args.url.clone().or_else(|| std::env::var("AGENTGAZER_URL").ok());
    let found = if given.is_some() { None } else { Addresses::read(&config.data_dir) };
    let trust = trust(args, found.as_ref());
    let url = given.or_else(|| found.map(|addresses| addresses.dashboard));
    let token = match (known_token(&config), &url) {
        (Err(failure), None) if failure.exit == Exit::NotFound => return Err(no_server(&config)),
        (Err(failure), Some(url)) if failure.exit == Exit::NotFound => return Err(no_token(&config, url)),
        (known, _) => known?,
    };
    Client::new(&url.unwrap_or_else(|| default_url(&config)), token, &trust)
}

/// The certificates that a command trusts: the given authorities, or the certificate in the
/// addresses found in the data directory.
pub(crate) fn trust(args: &ServerArgs, found: Option<&Addresses>) -> Trust {
    let authorities = args.ca.clone().or_else(|| std::env::var_os("AGENTGAZER_CA").map(PathBuf::from));
    let found = || found.map(Addresses::trust).unwrap_or_default();
    authorities.map_or_else(found, Trust::Authorities)
}

/// Neither a token nor an address exists: no server was ever started here.
fn no_server(config: &Config) -> Failure {
    let message = format!(
        "no server: none was started on the data directory {}. Start one with `agentgazer start`, or say where it is with \
         --url and --token",
        config.data_dir.display()
    );
    Failure::new(Exit::Unreachable, message)
}

/// A server that has its token from its own configuration, or another data directory.
fn no_token(config: &Config, url: &str) -> Failure {
    let place = config.data_dir.display();
    let message =
        format!("the token of the server at {url} is not in {place}: give it with --token or AGENTGAZER_TOKEN");
    Failure::new(Exit::Usage, message)
}

/// The default address of a server with this configuration.
fn default_url(config: &Config) -> String {
    let host = if config.bind.is_unspecified() { std::net::IpAddr::from([127, 0, 0, 1]) } else { config.bind };
    format!("{}://{}", config.tls.scheme(), std::net::SocketAddr::new(host, config.port))
}

/// The configured token, or the generated one.
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
