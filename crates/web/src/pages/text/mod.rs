//! The writing of pages: words, numbers, links, JSON, and the differences between two texts.

pub(in crate::pages) mod diff;
pub(in crate::pages) mod indented;
pub(in crate::pages) mod link;
pub(in crate::pages) mod number;
pub(in crate::pages) mod plain;
pub(in crate::pages) mod words;
