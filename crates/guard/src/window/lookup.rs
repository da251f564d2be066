//! Read access to the windows, for comparing calls.

use model::{ConversationId, Fingerprint, Timestamp, WindowKind};

use super::Windows;
use super::calls::Calls;
use super::packed_fingerprint::PackedFingerprint;

impl Windows {
    /// Whether a call in the windows failed.
    pub(crate) fn has_failed(&self) -> bool {
        self.failed > 0
    }

    /// The calls of a window, oldest first.
    pub(crate) fn calls(&self, kind: WindowKind, conversation: ConversationId) -> Vec<&PackedFingerprint> {
        let window = self.window(kind, conversation);
        window.map(|calls| calls.keys().iter().map(|key| self.slab.get(*key)).collect()).unwrap_or_default()
    }

    /// The calls of a window that are not samples, oldest first, and the newest call in any case.
    pub(crate) fn asks(&self, kind: WindowKind, conversation: ConversationId) -> Vec<&PackedFingerprint> {
        let Some(calls) = self.window(kind, conversation) else { return Vec::new() };
        let newest = calls.keys().back().filter(|key| self.slab.get(**key).is_sample());
        calls.asks().iter().chain(newest).map(|key| self.slab.get(*key)).collect()
    }

    fn window(&self, kind: WindowKind, conversation: ConversationId) -> Option<&Calls> {
        match kind {
            WindowKind::Agent => Some(&self.all),
            WindowKind::Conversation => self.of_conversation(conversation),
        }
    }

    /// Whether the window of `conversation` and that of the agent hold the same calls.
    pub(crate) fn hold_same_calls(&self, conversation: ConversationId) -> bool {
        self.of_conversation(conversation).is_some_and(|calls| calls.keys() == self.all.keys())
    }

    /// The calls that `print` can be compared with, oldest first: those of its conversation, and
    /// newer ones of other conversations that began with the same words.
    pub(crate) fn comparable_calls(
        &self,
        print: &Fingerprint,
    ) -> impl DoubleEndedIterator<Item = &PackedFingerprint> + Clone {
        let first = self.all.keys().front().map_or(u64::MAX, |key| self.slab.get(*key).number());
        let own = self.of_conversation(print.conversation).into_iter().flat_map(Calls::keys);
        let own = own.map(|key| self.slab.get(*key));
        let (conversation, message, is_common) = (print.conversation, print.turn.message, print.prompt_is_common);
        let is_alike = move |entry: &&PackedFingerprint| {
            entry.conversation() == conversation || (!is_common && entry.turn().message == message)
        };
        let all = self.all.keys().iter().map(|key| self.slab.get(*key)).filter(is_alike);
        own.filter(move |entry| entry.number() < first).chain(all)
    }

    fn of_conversation(&self, conversation: ConversationId) -> Option<&Calls> {
        // The conversation in use is the last one.
        self.conversations.iter().rev().find(|it| it.id == conversation).map(|it| &it.calls)
    }

    /// The newest call, if it is still held.
    pub(crate) fn newest(&self) -> Option<Fingerprint> {
        self.all.keys().back().map(|key| Fingerprint::from(self.slab.get(*key)))
    }

    /// For how many milliseconds nothing has happened in a conversation.
    pub(crate) fn silence(&self, conversation: ConversationId, now: Timestamp) -> i64 {
        let known = self.conversations.iter().rev().find(|it| it.id == conversation);
        known.map_or(0, |it| now.as_millis().saturating_sub(it.last_active.as_millis()))
    }
}
