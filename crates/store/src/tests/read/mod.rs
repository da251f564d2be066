//! Reads, before and after a restart.

mod fingerprints;
mod incidents_and_windows;
mod pages;
mod policies;
mod providers;
mod restore;
mod text_search;

use super::*;
