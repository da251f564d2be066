//! Makes sure that all replicas of a database encrypt with the same key.

use sqlx::PgPool;

use crate::StoreError;
use crate::files::KeyFile;
use crate::postgres::in_time;

/// Compares the key with the one that the database was last used with. A single server may start
/// with a new key, because the old one may be lost. A replica that cannot read what the others
/// stored must not start.
pub(crate) async fn check_key(pool: &PgPool, keys: &KeyFile, is_shared: bool) -> Result<(), StoreError> {
    let insert = match is_shared {
        true => "insert into settings (name, value) values ('key_id', $1) on conflict (name) do nothing",
        false => {
            "insert into settings (name, value) values ('key_id', $1)
             on conflict (name) do update set value = excluded.value where settings.value <> excluded.value"
        }
    };
    in_time(sqlx::query(insert).bind(keys.id()).execute(pool)).await?;
    let used: String =
        in_time(sqlx::query_scalar("select value from settings where name = 'key_id'").fetch_one(pool)).await?;
    if used == keys.id() {
        return Ok(());
    }
    Err(StoreError::Setup(format!(
        "the key file {} is not the one that the other replicas of this database use: copy their key file to this place, or \
         set key_file to it",
        keys.path().display()
    )))
}
