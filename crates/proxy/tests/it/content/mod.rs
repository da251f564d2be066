//! The conversations that calls carry, in all formats and encodings.

mod client_forms;
mod formats;
mod reading;
