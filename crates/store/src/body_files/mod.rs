//! SQLite files of their own for bodies of calls: those that may become evidence, and recordings.

mod evidence_file;
mod recording_file;

pub use self::evidence_file::EvidenceFile;
pub use self::recording_file::RecordingFile;
