//! Locks between the servers of one database. They are released at the end of the transaction.

use sqlx::PgConnection;

use crate::postgres::in_time;

/// What is locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lock {
    /// The end of the audit log, so that no number is used twice.
    Audit,
    /// The longer sums: their maker must see every hour that others write.
    Sums,
    /// The states of the alert rules.
    AlertStates,
    /// Retention and the size limit.
    Upkeep,
}

impl Lock {
    fn name(self) -> &'static str {
        match self {
            Lock::Audit => "agentgazer.audit",
            Lock::Sums => "agentgazer.sums",
            Lock::AlertStates => "agentgazer.turns",
            Lock::Upkeep => "agentgazer.upkeep",
        }
    }
}

/// Waits until no one else has the lock.
pub(crate) async fn lock(connection: &mut PgConnection, lock: Lock) -> Result<(), sqlx::Error> {
    let statement = "select pg_advisory_xact_lock(hashtext($1), hashtext(current_schema()))";
    in_time(sqlx::query(statement).bind(lock.name()).execute(connection)).await.map(drop)
}

/// Waits until no one has the lock exclusively; others may share it.
pub(crate) async fn lock_shared(connection: &mut PgConnection, lock: Lock) -> Result<(), sqlx::Error> {
    let statement = "select pg_advisory_xact_lock_shared(hashtext($1), hashtext(current_schema()))";
    in_time(sqlx::query(statement).bind(lock.name()).execute(connection)).await.map(drop)
}

/// Takes the lock if it is free.
pub(crate) async fn try_lock(connection: &mut PgConnection, lock: Lock) -> Result<bool, sqlx::Error> {
    let statement = "select pg_try_advisory_xact_lock(hashtext($1), hashtext(current_schema()))";
    in_time(sqlx::query_scalar(statement).bind(lock.name()).fetch_one(connection)).await
}
