//! Finds generated ids in a text.

use super::{ids, marks};

/// The end of the id that starts at `at`, where a letter or a digit stands. `None` if another one
/// stands before it.
pub(super) fn generated_id(bytes: &[u8], at: usize) -> Option<usize> {
    let stands_free = !at.checked_sub(1).is_some_and(|before| bytes[before].is_ascii_alphanumeric());
    // A time is not an id, whatever its digits and letters look like.
    if !stands_free || marks::timestamp(bytes, at).is_some() {
        return None;
    }
    marks::uuid(bytes, at).or_else(|| ids::id(bytes, at))
}

/// Whether the mark at `at` is the first character of an id: ids in URL-safe alphabets may begin
/// with a mark.
pub(super) fn is_part_of_id(bytes: &[u8], at: usize) -> bool {
    let stands_free = !at.checked_sub(1).is_some_and(|before| bytes[before].is_ascii_alphanumeric());
    let begins_run = || bytes.get(at + 1).is_some_and(u8::is_ascii_alphanumeric);
    matches!(bytes[at], b'-' | b'_') && stands_free && begins_run() && generated_id(bytes, at + 1).is_some()
}
