//! Databases that crash, fill up, are locked, lost or on PostgreSQL.

mod crash;
pub(crate) mod faults;
mod lost_database;
mod pgbouncer;
mod postgres;
