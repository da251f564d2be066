//! What runs are made of: words, code, outputs of programs, and the parts of them that differ every
//! time.

pub(crate) mod code;
pub(crate) mod outputs;
pub(crate) mod reworded;
pub(crate) mod volatile;
pub(crate) mod words;
