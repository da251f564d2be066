//! Rules about what is said: who says it, how much it says, and whether it goes round.

pub(super) mod idle_talk;
pub(super) mod narration;
pub(super) mod same_words;
pub(super) mod short_text;
pub(super) mod small_talk;
pub(super) mod visitors;
