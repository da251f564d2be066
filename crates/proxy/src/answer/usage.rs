//! What a call used and what that costs: as the provider reported it, or as far as it can be estimated.

use bytes::Bytes;
use http::HeaderMap;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use http::response::Parts;
use model::Usage;
use wire::{Answer, Dialect, UsageFilter};

use crate::destination::Destination;
use crate::exchange::Exchange;

impl Exchange {
    /// The body as it is sent on: where a stream would not report its usage, it is asked to.
    pub(crate) fn ask_for_usage(&mut self, destination: &Destination, headers: &mut HeaderMap, body: Bytes) -> Bytes {
        if self.dialect != Some(Dialect::ChatCompletions) || !self.event.streamed {
            return body;
        }
        let provider = self.event.provider.as_deref().unwrap_or_default();
        let setting = self.core.config.include_usage.get(provider).copied();
        if !setting.unwrap_or_else(|| wire::needs_include_usage(destination.base_url())) {
            return body;
        }
        // What is compressed stays as it is.
        if headers.contains_key(CONTENT_ENCODING) {
            return body;
        }
        let Some(asking) = self.core.shield.run(|| wire::ask_for_usage(&body)).flatten() else { return body };
        self.asks_for_usage = true;
        headers.remove(CONTENT_LENGTH);
        // What the question adds can only be taken out of a stream that is not compressed.
        headers.remove(ACCEPT_ENCODING);
        asking
    }

    /// What takes out of the answer what was added to it by asking for usage.
    pub(crate) fn usage_filter(&self, parts: &mut Parts) -> Option<UsageFilter> {
        if !self.asks_for_usage {
            return None;
        }
        let content_type = parts.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let is_stream = content_type.to_ascii_lowercase().starts_with("text/event-stream");
        if !is_stream || parts.headers.contains_key(CONTENT_ENCODING) {
            return None;
        }
        parts.headers.remove(CONTENT_LENGTH);
        Some(UsageFilter::default())
    }

    /// Notes what the call used, as the provider reported it or as far as it can be estimated, and what that costs.
    pub(crate) fn note_usage(&mut self, answer: &Answer, is_whole: bool) {
        let is_reported = is_whole && answer.usage.output.is_some();
        self.event.usage = match is_reported || !self.is_paid_for(answer) {
            true => answer.usage,
            false => wire::estimated_usage(answer.usage, self.asked_tokens, answer.answered.as_ref()),
        };
        self.event.estimated = !is_reported && self.event.usage.output.is_some();
        self.note_cost(answer.model.as_deref());
    }

    /// Whether the provider took the call on, so that what was sent is paid for even if nothing came back. An error in the
    /// place of an answer is free, and vectors cost what their answer says.
    fn is_paid_for(&self, answer: &Answer) -> bool {
        let began_well = self.event.status.is_some_and(|status| (200..300).contains(&status));
        let is_error = answer.answered.is_none() && answer.error.is_some();
        began_well && !is_error && self.embeds.is_none()
    }

    /// `answered` is the model that the answer names: more exactly than the request, where an alias or a router was asked.
    fn note_cost(&mut self, answered: Option<&str>) {
        if self.event.usage == Usage::default() {
            return;
        }
        let asked = self.event.model.as_deref().filter(|asked| Some(*asked) != answered);
        let models = [answered, asked];
        let provider = self.event.provider.as_deref().unwrap_or_default();
        let prices = &self.core.config.prices;
        self.event.cost = models.into_iter().flatten().find_map(|it| prices.cost(provider, it, &self.event.usage));
    }
}
