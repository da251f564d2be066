//! The material of runs: words, code, outputs of programs, and their parts that differ every time.

pub(crate) mod code;
pub(crate) mod outputs;
pub(crate) mod reworded;
pub(crate) mod volatile;
pub(crate) mod words;
