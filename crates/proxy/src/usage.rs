//! What a call used and what that costs: as the provider reported it, or as far as it can be estimated.

use model::{Asked, Usage};
use wire::Answer;

use crate::exchange::Exchange;

impl Exchange {
    /// Notes what the call used, as the provider reported it or as far as it can be estimated, and what that costs.
    pub(crate) fn note_usage(&mut self, answer: &Answer, is_whole: bool) {
        let is_reported = is_whole && answer.usage.output.is_some();
        self.event.usage = match is_reported || answer.answered.is_none() {
            true => answer.usage,
            false => wire::estimated_usage(answer.usage, self.asked_tokens, answer.answered.as_ref()),
        };
        self.event.estimated = !is_reported && self.event.usage.output.is_some();
        if self.event.usage == Usage::default() {
            return;
        }
        // The answer names the model more exactly than the request, where an alias or a router was asked.
        let models = [answer.model.as_deref(), self.event.model.as_deref()];
        let provider = self.event.provider.as_deref().unwrap_or_default();
        let prices = &self.core.config.prices;
        self.event.cost = models.into_iter().flatten().find_map(|it| prices.cost(provider, it, &self.event.usage));
    }
}

/// A rough count that costs nothing; it is only used where the provider does not report one. Four bytes of text are about
/// a token, and an attachment is about as much as a large image.
pub(crate) fn about_tokens(length: usize, asked: &Asked<'_>) -> u64 {
    let attached: usize = asked.attachments.iter().map(|attachment| attachment.len()).sum();
    (length.saturating_sub(attached) as u64).div_ceil(4) + 1600 * asked.attachments.len() as u64
}
