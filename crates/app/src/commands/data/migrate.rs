//! `migrate`: brings the database up to date without starting a server.

use store::{Store, StoreConfig};

use crate::cli::SettingArgs;
use crate::config;
use crate::exit::Failure;
use crate::print;
use crate::runtime::on_one_thread;

/// `migrate`.
pub fn migrate(args: &SettingArgs) -> Result<(), Failure> {
    let config = config::load(args.config.clone(), args.entries())?;
    let postgres = config.postgres()?;
    let place = postgres.as_ref().map_or_else(|| config.data_dir.display().to_string(), |server| server.address());
    let store_config = StoreConfig { postgres, ..StoreConfig::new(&config.data_dir, config.key_file()) };
    on_one_thread(async { Ok(Store::open(store_config).await.map(drop)?) })?;
    print::line(&format!("the database {place} is up to date"))
}
