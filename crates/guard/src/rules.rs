//! What counts as a repetition under `counting = "adaptive"`: evidence of no progress. One rule a file, each with its
//! reason; that numbers are progress, too, is in the hashes, which exist with numbers masked and with numbers kept.

mod asked_again;
mod new_result;
mod retry;
mod short_text;

pub(crate) use asked_again::{asks, is_asked_again};
pub(crate) use new_result::{gave_something_new, is_same_tool_step, steps_after};
pub(crate) use retry::without_retried;
pub(crate) use short_text::{prompt_has_weight, response_has_weight};
