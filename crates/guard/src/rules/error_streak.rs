//! The same error again is no progress, whatever was tried: agents reword a query, change a flag or take another tool, and
//! get the same refusal. Different errors are progress.

use crate::entry::Entry;

/// Whether both calls report the same error, in one conversation.
pub(crate) fn is_same_error(one: &Entry, other: &Entry) -> bool {
    let (Some(first), Some(second)) = (one.tools(), other.tools()) else {
        return false;
    };
    first.is_error && second.is_error && first.result == second.result && one.conversation() == other.conversation()
}
