//! What several calls in a row say together, found once for each judged call.

use super::{SmallTalk, Standstill, idle_talk, narration, small_talk, standstill};
use crate::window::PackedFingerprint;

/// The streaks that the last of some calls is part of.
#[derive(Default)]
pub(crate) struct Streaks {
    pub(crate) standstill: Option<Standstill>,
    pub(crate) narration: Vec<usize>,
    pub(crate) idle_talk: Vec<usize>,
    pub(crate) small_talk: Option<SmallTalk>,
}

impl Streaks {
    pub(crate) fn of(calls: &[&PackedFingerprint]) -> Streaks {
        Streaks {
            standstill: standstill(calls),
            narration: narration(calls),
            idle_talk: idle_talk(calls),
            small_talk: small_talk(calls),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.standstill.is_none() && self.narration.is_empty() && self.idle_talk.is_empty() && self.small_talk.is_none()
    }
}
