//! What is read, and that a restart reads the same.

mod fingerprints;
mod incidents_and_windows;
mod pages;
mod policies;
mod providers;
mod restore;
mod text_search;

use super::*;
