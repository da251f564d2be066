//! Start, settings, restart and bugs of the running server.

mod panics;
mod restart;
mod restart_under_load;
mod settings;
mod start;
