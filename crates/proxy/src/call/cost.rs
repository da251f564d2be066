//! The cost of a call.

use model::Usage;

use super::Call;

impl Call {
    /// Records the usage of a call that was sent and whose answer no one waits for: the provider
    /// works on it all the same. Otherwise an agent that always hangs up would spend nothing.
    pub(super) fn note_usage_of_unanswered(&mut self) {
        let Some(tokens) = self.sent_tokens.take() else { return };
        self.event.usage = wire::estimated_usage(Usage::default(), tokens, None);
        self.event.estimated = true;
        self.note_cost(None);
    }

    /// Records the cost. `answered` is the model in the answer. It is more exact than the one in
    /// the request, which may be an alias.
    pub(crate) fn note_cost(&mut self, answered: Option<&str>) {
        let event = &mut self.event;
        if event.usage == Usage::default() {
            return;
        }
        let asked = event.model.as_deref().filter(|asked| Some(*asked) != answered);
        let provider = event.provider.as_deref().unwrap_or_default();
        let prices = &self.core.config.prices;
        let models = [answered, asked].into_iter().flatten();
        event.cost = models.into_iter().find_map(|model| prices.cost(provider, model, &event.usage));
    }
}
