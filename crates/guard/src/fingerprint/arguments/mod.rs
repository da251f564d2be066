//! The arguments of a tool call: their canonical form, their targets and their wording.

mod canonical;
mod targets;
mod wording;

pub(super) use canonical::canonical;
pub(super) use targets::{chosen, targets, temporary_files, without_volatile};
pub(super) use wording::wording;
