//! The arguments of a tool call: in one form however they were written, and what they aim at.

mod canonical;
mod targets;
mod wording;

pub(super) use canonical::canonical;
pub(super) use targets::{chosen, targets, temporary_files, without_volatile};
pub(super) use wording::wording;
