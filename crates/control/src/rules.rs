//! Alert rules.

use model::{AlertRule, DeliveryId, RuleId};
use store::{AlertChange, Change, StoreError};

use crate::error::OrNotFound;
use crate::{Control, ControlError, State};

/// More would be a mistake: one rule can hold for all agents.
const MAX_RULES: usize = 1000;

impl Control {
    /// Adds a rule.
    pub async fn add_rule(&self, rule: AlertRule) -> Result<(), ControlError> {
        self.exclusive(move |state| async move {
            if state.store.alert_rules().await?.len() >= MAX_RULES {
                let text = format!("There are {MAX_RULES} rules already; delete one first.");
                return Err(ControlError::TooMany(text));
            }
            state.put_rule(rule).await
        })
        .await
    }

    /// Replaces a rule by what `change` makes of it, and returns that.
    pub async fn change_rule<E: From<ControlError> + Send + 'static>(
        &self,
        id: RuleId,
        change: impl FnOnce(AlertRule) -> Result<AlertRule, E> + Send + 'static,
    ) -> Result<AlertRule, E> {
        self.exclusive(move |state| async move {
            let rule = change(state.rule(id).await?)?;
            state.put_rule(rule.clone()).await?;
            Ok(rule)
        })
        .await
    }

    /// Deletes a rule.
    pub async fn delete_rule(&self, id: RuleId) -> Result<(), ControlError> {
        let removed = self.0.recorder.change(Change::Alerts(AlertChange::RemoveRule { rule: id })).await;
        removed.or_not_found(|| unknown(id)).map(drop)
    }

    /// One rule.
    pub async fn rule(&self, id: RuleId) -> Result<AlertRule, ControlError> {
        self.0.rule(id).await
    }

    /// Queues a delivery again that has failed.
    pub async fn retry_delivery(&self, id: DeliveryId) -> Result<(), ControlError> {
        let change = AlertChange::Retry { delivery: id, at: self.0.clock.now() };
        let queued = self.0.recorder.change(Change::Alerts(change)).await;
        queued.or_not_found(|| format!("There is no alert {id}.")).map(drop)
    }
}

impl State {
    async fn rule(&self, id: RuleId) -> Result<AlertRule, ControlError> {
        self.store.alert_rule(id).await?.ok_or_else(|| ControlError::NotFound(unknown(id)))
    }

    async fn put_rule(&self, rule: AlertRule) -> Result<(), ControlError> {
        match self.recorder.change(Change::Alerts(AlertChange::PutRule { rule: rule.into() })).await {
            Err(StoreError::Conflict(why)) => {
                Err(ControlError::field("channels", format!("must be ids of channels: {why}")))
            }
            stored => Ok(stored.map(drop)?),
        }
    }
}

fn unknown(id: RuleId) -> String {
    format!("There is no rule {id}.")
}
