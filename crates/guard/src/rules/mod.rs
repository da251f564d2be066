//! What counts as a repetition under `counting = "adaptive"`: evidence of no progress. One rule per
//! file, each with its reason. That new numbers are progress is part of the hashes, which exist
//! with numbers masked and with numbers kept.

mod asks;
mod steps;
mod streaks;
mod words;

pub(crate) use asks::asked_again::{has_moved_on, is_asked_again};
pub use asks::rest::REST;
pub(crate) use asks::rest::{is_after_rest, is_schedule, may_be_scheduled};
pub(crate) use asks::retry::leave_out_retried;
pub use asks::sampling::is_later_round;
pub(crate) use asks::sampling::{is_same_ask, is_sample, leave_out_samples};
pub(crate) use steps::in_vain::in_vain;
pub(crate) use steps::new_result::{
    ReportedStep, came_to_same, gave_something_new, is_same_outcome, repeated, reported_step,
};
pub(crate) use steps::new_work::{ChainEnd, is_after_progress};
pub(crate) use steps::reminder::chain_end;
pub(crate) use steps::standstill::Standstill;
use steps::standstill::standstill;
pub(crate) use streaks::Streaks;
use words::idle_talk::idle_talk;
use words::narration::narration;
pub(crate) use words::same_words::{is_comparable, is_same_question};
pub(crate) use words::short_text::{prompt_has_weight, response_has_weight};
use words::small_talk::{SmallTalk, small_talk};
pub(crate) use words::visitors::are_visitors;
