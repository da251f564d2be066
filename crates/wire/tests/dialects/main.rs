//! What is read of requests and answers, and how refusals look, dialect by dialect.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed unwrap is a failed test")]

mod answers;
mod bedrock;
mod client_context;
mod cohere;
mod conversations;
mod gemini;
mod hostile;
mod mixed;
mod ollama;
mod recordings;
mod refusals;
mod requests;
mod responses;
mod slices;
mod stream_errors;
mod streams;
mod written;
