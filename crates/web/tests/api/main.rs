//! The API and the pages, driven through the real router with a real guard and a real store.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used)]

mod agents;
mod alerts;
mod borders;
mod compression;
mod description;
mod exemptions;
mod gate;
mod inputs;
mod pages;
mod people;
mod policies;
mod providers;
mod server;
mod settings;
mod shapes;
mod smtp;
mod stats;
mod stream;
