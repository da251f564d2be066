//! Evidence: the bodies of the calls in the windows, cached in memory and copied to disk, and the
//! incidents built from them.

pub(crate) mod cache;
pub(crate) mod cached_body;
mod disk_copy;
mod opening_words;
