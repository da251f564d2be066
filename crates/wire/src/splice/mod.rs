//! The two changes to traffic: the request for usage and the name of another model. No other byte
//! changes.

mod include_usage;
mod model_name;
mod usage_filter;

use bytes::Bytes;

pub use include_usage::{ask_for_usage, needs_include_usage};
pub use model_name::{body_with_model, path_with_model};
pub use usage_filter::UsageFilter;

/// A replacement of a range of bytes.
struct Splice<'a> {
    from: usize,
    to: usize,
    text: &'a str,
}

impl<'a> Splice<'a> {
    fn insert(at: usize, text: &'a str) -> Splice<'a> {
        Splice { from: at, to: at, text }
    }

    fn replace((from, to): (usize, usize), text: &'a str) -> Splice<'a> {
        Splice { from, to, text }
    }

    fn apply(&self, text: &str) -> Bytes {
        let (before, after) = (&text.as_bytes()[..self.from], &text.as_bytes()[self.to..]);
        [before, self.text.as_bytes(), after].concat().into()
    }
}

/// The range of `part`, a slice of `text`, in it.
fn range_of(text: &str, part: &str) -> Option<(usize, usize)> {
    let from = (part.as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
    let to = from + part.len();
    (to <= text.len()).then_some((from, to))
}

#[cfg(test)]
mod tests;
