//! Opens the store, and the session that writes.

use std::sync::Arc;

use crate::config::in_force::SettingsInForce;
use crate::database::{Generation, KillsInMemory, Pool, Session};
use crate::files::KeyFile;
use crate::files::create_private_dir;
use crate::tuning::Tuning;
use crate::{Store, StoreConfig, StoreError, WriterClaim, postgres, read, sqlite};

impl Store {
    /// Opens the database, creates it if it does not exist, and migrates it.
    pub async fn open(config: StoreConfig) -> Result<Store, StoreError> {
        Self::open_tuned(config, Tuning::default()).await
    }

    pub(crate) async fn open_tuned(config: StoreConfig, tuning: Tuning) -> Result<Store, StoreError> {
        create_private_dir(&config.data_dir)?;
        let keys = KeyFile::open(&config.key_file)?;
        let Readers { pool, generation } = open_readers(&config, &tuning).await?;
        if let Pool::Postgres(server) = &pool {
            postgres::check_key(server, &keys, config.shared).await?;
        }
        let settings = SettingsInForce::read(&pool, config.settings()).await?;
        let groups = read::groups::read(&pool).await?;
        let (kills, claim) = (KillsInMemory::default(), WriterClaim::default());
        Ok(Store { readers: pool, config: Arc::new(config), keys, settings, groups, tuning, kills, claim, generation })
    }

    /// A session that writes, which opens its connection with the first transaction.
    pub(crate) fn write_session(&self) -> Session {
        match &self.config.postgres {
            Some(server) => {
                let name = Arc::clone(&self.tuning.writer);
                let writer = postgres::WriterName { name, is_shared: self.config.shared };
                Session::Postgres(postgres::Session::new(server, writer, self.claim.clone()))
            }
            None => {
                let (database, generation) = (self.config.database(), self.generation.clone());
                Session::Sqlite(Box::new(sqlite::Session::new(database, self.tuning.clone(), generation)))
            }
        }
    }
}

/// The connections that read.
struct Readers {
    pool: Pool,
    /// Makes the readers leave a file that was replaced.
    generation: Generation,
}

/// Creates the database if it does not exist, migrates it and opens the readers.
async fn open_readers(config: &StoreConfig, tuning: &Tuning) -> Result<Readers, StoreError> {
    let Some(server) = &config.postgres else {
        sqlite::prepare(&config.data_dir, &config.database(), config.clock.now())?;
        let sqlite::Readers { pool, generation } = sqlite::open(&config.database(), tuning).await?;
        return Ok(Readers { pool: Pool::Sqlite(pool), generation });
    };
    let pool = postgres::open(server).await?;
    Ok(Readers { pool: Pool::Postgres(pool), generation: Generation::default() })
}
