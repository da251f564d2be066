//! Where the database is and how it behaves.

pub(crate) mod in_force;
mod settings;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use model::{Clock, Event, EventType, KillSwitch, NanoUsd, Usage};

use crate::files::create_private_dir;
use crate::{PostgresConfig, StoreError, WriterClaim, postgres};

pub use settings::{Retention, RetentionChange, Settings, SettingsChange};

/// Where the database is and how it behaves.
#[derive(Clone, Debug)]
pub struct StoreConfig {
    /// The directory of the database file `agentgazer.db` and of the files beside it.
    pub data_dir: PathBuf,
    /// The PostgreSQL server; `None` uses the file in `data_dir`.
    pub postgres: Option<PostgresConfig>,
    /// Whether other servers write to the same database at the same time. A file has one writer.
    pub shared: bool,
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
    /// The source of time, which decides what is old.
    pub clock: Clock,
    /// Claims the data directory again if it was deleted while the server ran.
    pub claim_directory: ClaimDirectory,
}

impl StoreConfig {
    /// A database in `data_dir` with the usual settings.
    pub fn new(data_dir: impl Into<PathBuf>, key_file: impl Into<PathBuf>) -> StoreConfig {
        StoreConfig {
            data_dir: data_dir.into(),
            postgres: None,
            shared: false,
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

    /// Refuses a PostgreSQL server behind a pooler that gives every transaction another connection.
    pub async fn refuse_pooler(&self) -> Result<(), StoreError> {
        match &self.postgres {
            Some(server) => postgres::refuse_pooler(server).await,
            None => Ok(()),
        }
    }

    /// Takes the right to write; `None` if another server has it.
    pub async fn claim_writer(&self) -> Result<Option<WriterClaim>, StoreError> {
        WriterClaim::take(self.postgres.as_ref(), self.shared).await
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

impl fmt::Debug for ClaimDirectory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ClaimDirectory").field(&self.0.is_some()).finish()
    }
}

/// How alerts that come close together are grouped. The first is sent at once; the next ones wait
/// until no more come for a moment; after those are sent, the rest waits for the end of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grouping {
    /// How long a window is open; zero sends every alert by itself.
    pub window: Duration,
    /// How long no alert must come before the waiting ones are sent.
    pub quiet: Duration,
}

impl Default for Grouping {
    fn default() -> Self {
        Grouping { window: Duration::from_secs(60), quiet: Duration::from_secs(5) }
    }
}

type CountsAs = dyn Fn(&str, u64, u64) -> NanoUsd + Send + Sync;

/// What tokens of models without a price count towards budgets.
#[derive(Clone)]
pub struct Unpriced(Arc<CountsAs>);

impl Unpriced {
    /// Counts with `counts_as`, which gets a provider and the tokens in and out.
    pub fn new(counts_as: impl Fn(&str, u64, u64) -> NanoUsd + Send + Sync + 'static) -> Unpriced {
        Unpriced(Arc::new(counts_as))
    }

    /// What an event counts if its tokens are known and its price is not; else zero.
    pub(crate) fn of(&self, event: &Event) -> NanoUsd {
        let Usage { input, output, .. } = event.usage;
        if event.event_type != EventType::LlmCall || event.cost.is_some() || input.or(output).is_none() {
            return NanoUsd::ZERO;
        }
        (self.0)(event.provider.as_deref().unwrap_or_default(), input.unwrap_or(0), output.unwrap_or(0))
    }

    /// What tokens in and out at a provider count.
    pub(crate) fn of_tokens(&self, provider: &str, (input, output): (u64, u64)) -> NanoUsd {
        if (input, output) == (0, 0) { NanoUsd::ZERO } else { (self.0)(provider, input, output) }
    }
}

/// Counts nothing.
impl Default for Unpriced {
    fn default() -> Self {
        Unpriced::new(|_, _, _| NanoUsd::ZERO)
    }
}

impl fmt::Debug for Unpriced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Unpriced")
    }
}
