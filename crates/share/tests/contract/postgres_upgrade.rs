//! A database that an older version has used gets what the newer one needs.

use std::str::FromStr;

use share::{Postgres, Share};
use sqlx::postgres::PgConnectOptions;
use sqlx::{Connection, Executor, PgConnection};

use crate::engine::POSTGRES;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn newest_table_is_added() {
    let url = tokio::task::spawn_blocking(|| POSTGRES.0.create_database()).await.unwrap();
    let connect = async || Postgres::connect(PgConnectOptions::from_str(&url).unwrap()).await.unwrap();
    drop(connect().await);
    let mut connection = PgConnection::connect(&url).await.unwrap();
    // What an older version had made.
    connection.execute("drop table share_access").await.unwrap();
    let share = Share::Postgres(connect().await);
    share.touch_access().await.unwrap();
}
