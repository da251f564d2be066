//! `token`: prints the token that the dashboard and the API ask for.

use secrecy::ExposeSecret;

use crate::cli::TokenArgs;
use crate::commands::known_token;
use crate::config;
use crate::config::Entry;
use crate::exit::Failure;
use crate::print;

/// `token`.
pub fn token(args: &TokenArgs) -> Result<(), Failure> {
    let flags = args.data_dir.iter().map(|directory| Entry::flag("--data-dir", "data_dir", directory)).collect();
    let config = config::load(args.config.clone(), flags)?;
    print::line(known_token(&config)?.expose_secret())
}
