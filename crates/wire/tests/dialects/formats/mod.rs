//! Formats that need tests of their own, beyond what all formats share.

mod bedrock;
mod cohere;
mod gemini;
mod mixed;
mod ollama;
mod responses;
