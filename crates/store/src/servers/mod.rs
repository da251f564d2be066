//! What several servers on one PostgreSQL database tell each other: who they are, what has
//! changed, which sessions of the dashboard there are, which kills are not stored yet, and which
//! bodies are missing.

pub(crate) mod feed;
mod missing_evidence;
mod replicas;
mod sessions;
mod unrecorded_kills;

pub use self::feed::PeopleVersion;
pub use self::replicas::ReplicaRow;
