//! Requests, answers and refusals, dialect by dialect.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed unwrap is a failed test")]

mod answers;
mod client_context;
mod conversations;
mod formats;
mod hostile;
mod recordings;
mod refusals;
mod requests;
mod slices;
mod stream_errors;
mod streams;
mod talk;
mod written;
