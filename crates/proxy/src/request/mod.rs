//! The request side of a call: its route, its caller, its body and its content.

mod caller;
pub(crate) mod conversation;
pub(crate) mod cors;
pub(crate) mod decode;
pub(crate) mod dot_segments;
pub(crate) mod read;
pub(crate) mod route;
