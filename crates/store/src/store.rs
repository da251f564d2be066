//! The façade: an open database, ready to be read. Each noun adds its own methods in `read`,
//! `stats` and `alerts`.

use std::sync::Arc;

use model::{Groups, SavedAgent};

use crate::config::in_force::SettingsInForce;
use crate::database::{Generation, KillsInMemory, Pool};
use crate::files::KeyFile;
use crate::tuning::Tuning;
use crate::{Settings, SettingsChange, StoreConfig, WriterClaim};

/// An open database. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct Store {
    pub(crate) readers: Pool,
    pub(crate) config: Arc<StoreConfig>,
    pub(crate) keys: KeyFile,
    pub(crate) settings: SettingsInForce,
    pub(crate) groups: Groups,
    pub(crate) tuning: Tuning,
    pub(crate) kills: KillsInMemory,
    pub(crate) claim: WriterClaim,
    /// Makes the readers close connections to a database that was replaced.
    pub(crate) generation: Generation,
}

impl Store {
    /// The same store for a writer with a name of its own. Several writers of one database need
    /// different names: each keeps its own sums, which readers merge.
    pub fn with_writer(mut self, name: &str) -> Store {
        self.tuning.writer = name.into();
        self
    }

    /// The same store, whose writer has this right to write.
    pub fn with_claim(mut self, claim: WriterClaim) -> Store {
        self.claim = claim;
        self
    }

    /// Whether other servers write to the same database at the same time.
    pub fn is_shared(&self) -> bool {
        self.config.shared && self.config.postgres.is_some()
    }

    /// The name of the writer, unique among replicas.
    pub fn writer(&self) -> &str {
        &self.tuning.writer
    }

    /// The largest size of the database in bytes.
    pub fn max_size(&self) -> Option<u64> {
        self.config.max_size
    }

    /// Registers the source of inactive agents. It is read if the database is lost while the server
    /// runs, so that the new one holds every kill.
    pub fn read_kills_from(&self, source: impl Fn() -> Vec<SavedAgent> + Send + Sync + 'static) {
        self.kills.read_from(source);
    }

    /// The settings in force for all agents.
    pub fn settings(&self) -> Settings {
        self.settings.in_force()
    }

    /// The part of the settings that people have set.
    pub fn settings_change(&self) -> SettingsChange {
        self.settings.set_by_people()
    }

    /// The settings without what people have set.
    pub fn configured_settings(&self) -> Settings {
        self.config.settings()
    }
}
