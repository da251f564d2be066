//! Files, migrations and sizes of SQLite.

mod checkpoint;
mod evidence_file;
mod migrations;
mod recording_file;
mod setup;
mod size_limit;

use super::*;
