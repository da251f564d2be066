//! Where the database is and how it behaves.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use model::{Clock, KillSwitch};

use crate::database::create_private_dir;
use crate::{Grouping, Retention, Settings, StoreError, Unpriced};

/// Where the database is and how it behaves.
#[derive(Clone, Debug)]
pub struct StoreConfig {
    /// The directory of the database file `agentgazer.db`.
    pub data_dir: PathBuf,
    /// The key file that encrypts provider keys and channel settings; created (mode 0600) if it
    /// does not exist.
    pub key_file: PathBuf,
    /// The settings of an agent that is first seen in a call, unless people have set others.
    pub defaults: KillSwitch,
    /// How long things are kept, unless people have set it otherwise.
    pub retention: Retention,
    /// The largest size of the database in bytes; `None` sets no limit.
    pub max_size: Option<u64>,
    /// How alerts that come close together are grouped.
    pub grouping: Grouping,
    /// What tokens of models without a price count towards budgets.
    pub unpriced: Unpriced,
    /// Tells the time, which decides what is old.
    pub clock: Clock,
    /// Claims the data directory again if it was deleted while the server ran.
    pub claim_directory: ClaimDirectory,
}

impl StoreConfig {
    /// A database in `data_dir` with the usual settings.
    pub fn new(data_dir: impl Into<PathBuf>, key_file: impl Into<PathBuf>) -> StoreConfig {
        StoreConfig {
            data_dir: data_dir.into(),
            key_file: key_file.into(),
            defaults: KillSwitch::default(),
            retention: Retention::default(),
            max_size: None,
            grouping: Grouping::default(),
            unpriced: Unpriced::default(),
            clock: Clock::System,
            claim_directory: ClaimDirectory::default(),
        }
    }

    /// The settings that hold unless people have set others.
    pub(crate) fn settings(&self) -> Settings {
        Settings { kill_switch: self.defaults, retention: self.retention }
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.data_dir.join("agentgazer.db")
    }
}

/// Creates the data directory again and makes sure that no other server uses it.
#[derive(Clone, Default)]
pub struct ClaimDirectory(Option<Arc<dyn Fn() -> Result<(), String> + Send + Sync>>);

impl ClaimDirectory {
    /// Claims with `claim`, which returns the reason if it fails.
    pub fn new(claim: impl Fn() -> Result<(), String> + Send + Sync + 'static) -> ClaimDirectory {
        ClaimDirectory(Some(Arc::new(claim)))
    }

    pub(crate) fn claim(&self, path: &Path) -> Result<(), StoreError> {
        self.0.as_ref().map_or_else(|| create_private_dir(path), |claim| claim().map_err(StoreError::Setup))
    }
}

impl std::fmt::Debug for ClaimDirectory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ClaimDirectory").field(&self.0.is_some()).finish()
    }
}
