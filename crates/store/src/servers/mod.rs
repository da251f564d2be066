//! What several servers on one PostgreSQL database tell each other: who they are, which sessions of
//! the dashboard there are, and which kills are not stored yet.

mod replicas;
mod sessions;
mod unrecorded_kills;

pub use self::replicas::ReplicaRow;
