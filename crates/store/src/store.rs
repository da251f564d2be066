//! The database: opened, migrated, ready to be read.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use model::{Clock, KillSwitch, SavedAgent};
use sqlx::SqlitePool;
use sqlx::migrate::MigrateError;
use sqlx::sqlite::SqlitePoolOptions;
use sqlx::{ConnectOptions, Connection};

use crate::connect;
use crate::error::in_plain_words;
use crate::generation::Generation;
use crate::key_file::KeyFile;
use crate::rescue::{KillsInMemory, finish_swap};
use crate::settings::InForce;
use crate::tuning::Tuning;
use crate::{Grouping, Retention, Settings, StoreError, Unpriced};

/// How many readers there are: pages and lists are read by few people at a time.
const READERS: u32 = 4;

/// Where the memory is and what it is like.
#[derive(Clone, Debug)]
pub struct StoreConfig {
    /// The directory of the database file `agentgazer.db`.
    pub data_dir: PathBuf,
    /// The key file that encrypts provider keys and what channels lead to; made (mode 0600) if it does not exist.
    pub key_file: PathBuf,
    /// The settings of an agent that is first heard of by a call, unless people have set others.
    pub defaults: KillSwitch,
    /// How long things are kept, unless people have set it otherwise.
    pub retention: Retention,
    /// How large the database may become, in bytes; `None`: as large as the disk.
    pub max_size: Option<u64>,
    /// How alerts that come close together are made one.
    pub grouping: Grouping,
    /// What tokens of models without a price count towards budgets.
    pub unpriced: Unpriced,
    /// Tells what is old.
    pub clock: Clock,
    /// Takes the data directory again, if it was deleted while the server ran.
    pub claim_directory: ClaimDirectory,
}

/// Makes the data directory again and makes sure that no other server has it.
#[derive(Clone, Default)]
pub struct ClaimDirectory(Option<Arc<dyn Fn() -> Result<(), String> + Send + Sync>>);

impl ClaimDirectory {
    /// Done by `claim`, which says why if it is not possible.
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

impl StoreConfig {
    /// A memory in `data_dir` with the usual settings.
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

    /// What holds unless people have set it otherwise.
    pub(crate) fn settings(&self) -> Settings {
        Settings { kill_switch: self.defaults, retention: self.retention }
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.data_dir.join("agentgazer.db")
    }
}

/// The database. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct Store {
    pub(crate) readers: SqlitePool,
    pub(crate) config: Arc<StoreConfig>,
    pub(crate) keys: KeyFile,
    pub(crate) settings: InForce,
    pub(crate) tuning: Tuning,
    pub(crate) kills: KillsInMemory,
    pub(crate) generation: Generation,
}

impl Store {
    /// Opens the database, makes it if it does not exist, and brings it up to date.
    pub async fn open(config: StoreConfig) -> Result<Store, StoreError> {
        Self::open_tuned(config, Tuning::default()).await
    }

    pub(crate) async fn open_tuned(config: StoreConfig, tuning: Tuning) -> Result<Store, StoreError> {
        create_private_dir(&config.data_dir)?;
        let database = config.database();
        finish_swap(&database, config.clock.now()).map_err(|error| {
            StoreError::Setup(format!("the database {} cannot be put in its place: {error}", database.display()))
        })?;
        create_private_file(&database)?;
        let keys = KeyFile::open(&config.key_file)?;
        migrate(&database, &tuning).await?;
        let generation = Generation::default();
        let readers = generation
            .limit(SqlitePoolOptions::new())
            .max_connections(READERS)
            .acquire_timeout(Duration::from_secs(5))
            // A connection to a file does not go away; asking whether it has is one more trip to its thread per query.
            .test_before_acquire(false)
            .connect_lazy_with(connect::reader(&database));
        let settings = InForce::read(&readers, config.settings()).await?;
        let kills = KillsInMemory::default();
        Ok(Store { readers, config: Arc::new(config), keys, settings, tuning, kills, generation })
    }

    /// How large the database may become, in bytes.
    pub fn max_size(&self) -> Option<u64> {
        self.config.max_size
    }

    /// Reads the inactive agents from `source` if the database is lost while the server runs: every kill is in the next one.
    pub fn read_kills_from(&self, source: impl Fn() -> Vec<SavedAgent> + Send + Sync + 'static) {
        self.kills.read_from(source);
    }
}

pub(crate) async fn migrate(database: &Path, tuning: &Tuning) -> Result<(), StoreError> {
    let failed = |why: String| StoreError::Setup(format!("the database {} cannot be used: {why}", database.display()));
    let options = connect::writer(database, tuning).busy_timeout(Duration::from_secs(5));
    let mut connection = options.connect().await.map_err(|error| failed(in_plain_words(&error)))?;
    let migrated = sqlx::migrate!().run(&mut connection).await;
    migrated.map_err(|error| match error {
        MigrateError::VersionMissing(_) => failed(
            "it was made by a newer version of AgentGazer; run that one, or use another data directory".to_owned(),
        ),
        MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => failed(in_plain_words(&error)),
        error => failed(error.to_string()),
    })?;
    connection.close().await.map_err(|error| failed(in_plain_words(&error)))
}

/// What agents say and what they are answered is nobody else's business.
fn create_private_dir(path: &Path) -> Result<(), StoreError> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
        .create(path)
        .map_err(|error| StoreError::Setup(format!("the data directory {} cannot be made: {error}", path.display())))
}

/// SQLite gives its other files (`-wal`, `-shm`) the mode of this one.
pub(crate) fn create_private_file(path: &Path) -> Result<(), StoreError> {
    let mut options = std::fs::OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop).map_err(|error| {
        StoreError::Setup(format!("the database {} cannot be opened for writing: {error}", path.display()))
    })
}
