//! The database: opened, migrated, ready to be read.

use std::path::PathBuf;

use crate::StoreError;

/// Where the memory is.
#[derive(Clone, Debug)]
pub struct StoreConfig {
    /// The directory of the database file `agentgazer.db`.
    pub data_dir: PathBuf,
    /// The key file that encrypts provider keys; made (mode 0600) if it does not exist.
    pub key_file: PathBuf,
}

/// The database. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct Store {}

impl Store {
    /// Opens the database, makes it if it does not exist, and brings it up to date.
    pub async fn open(config: StoreConfig) -> Result<Store, StoreError> {
        let _ = config;
        todo!()
    }
}
