//! The configuration of this process: its arguments, its environment and the file that they name.

use std::path::PathBuf;

use super::{Config, Entry, Sources};
use crate::exit::{Exit, Failure};

/// Resolves the settings of all layers for a command.
pub(crate) fn load(file: Option<PathBuf>, flags: Vec<Entry>) -> Result<Config, Failure> {
    load_layers(file, flags, false)
}

/// Resolves the settings of all layers for a server.
pub(crate) fn load_for_server(file: Option<PathBuf>, flags: Vec<Entry>) -> Result<Config, Failure> {
    load_layers(file, flags, true)
}

fn load_layers(file: Option<PathBuf>, flags: Vec<Entry>, for_server: bool) -> Result<Config, Failure> {
    let text = |value: std::ffi::OsString| value.into_string().ok();
    let environment = std::env::vars_os().filter_map(|(name, value)| Some((text(name)?, text(value)?)));
    let default_data_dir = super::default_data_dir(|name| std::env::var(name).ok());
    let known = wire::builtin_providers();
    super::resolve(Sources {
        file,
        environment: environment.collect(),
        flags,
        known: &known,
        // Only a process without a home directory has none, such as a service: the current
        // directory is then the expected place.
        default_data_dir: default_data_dir.unwrap_or_else(|| PathBuf::from("agentgazer-data")),
        for_server,
    })
    .map_err(|mistakes| Failure::new(Exit::Usage, mistakes))
}
