//! What counts as a repetition under `counting = "adaptive"`: evidence of no progress. One rule per
//! file, each with its reason. That new numbers are progress is part of the hashes, which exist
//! with numbers masked and with numbers kept.

mod asked_again;
mod error_streak;
mod idle_talk;
mod in_vain;
mod narration;
mod new_result;
mod new_work;
mod reminder;
mod rest;
mod retry;
mod same_words;
mod sampling;
mod short_text;
mod small_talk;
mod standstill;
mod streaks;
mod visitors;

pub(crate) use asked_again::{has_moved_on, is_asked_again};
use idle_talk::idle_talk;
pub(crate) use in_vain::in_vain;
use narration::narration;
pub(crate) use new_result::{ReportedStep, came_to_same, gave_something_new, is_same_outcome, repeated, reported_step};
pub(crate) use new_work::{ChainEnd, is_after_progress};
pub(crate) use reminder::chain_end;
pub use rest::REST;
pub(crate) use rest::{is_after_rest, is_schedule, may_be_scheduled};
pub(crate) use retry::leave_out_retried;
pub(crate) use same_words::{is_comparable, is_same_question};
pub use sampling::is_later_round;
pub(crate) use sampling::{is_same_ask, is_sample, leave_out_samples};
pub(crate) use short_text::{prompt_has_weight, response_has_weight};
use small_talk::{SmallTalk, small_talk};
pub(crate) use standstill::Standstill;
use standstill::standstill;
pub(crate) use streaks::Streaks;
pub(crate) use visitors::are_visitors;
