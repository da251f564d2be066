//! Alert rules.

use model::{AlertRule, DeliveryId, RuleId, RuleScope};
use store::{AlertChange, Change, StoreError};

use crate::error::OrNotFound;
use crate::{Command, Commands, Control, ControlError, State};

/// More are a mistake: one rule can apply to all agents.
const MAX_RULES: usize = 1000;

impl Commands {
    /// Adds a rule.
    pub async fn add_rule(&self, rule: AlertRule) -> Result<(), ControlError> {
        self.exclusive(move |command| async move {
            if command.store.alert_rules().await?.len() >= MAX_RULES {
                let text = format!("There are {MAX_RULES} rules already; delete one first.");
                return Err(ControlError::TooMany(text));
            }
            command.put_rule(rule).await
        })
        .await
    }

    /// Replaces a rule by the result of `change`, and returns it.
    pub async fn change_rule<E: From<ControlError> + Send + 'static>(
        &self,
        id: RuleId,
        change: impl FnOnce(AlertRule) -> Result<AlertRule, E> + Send + 'static,
    ) -> Result<AlertRule, E> {
        self.exclusive(move |command| async move {
            let rule = change(command.rule(id).await?)?;
            command.put_rule(rule.clone()).await?;
            Ok(rule)
        })
        .await
    }

    /// Deletes a rule.
    pub async fn delete_rule(&self, id: RuleId) -> Result<(), ControlError> {
        let removed = self.command().change(Change::Alerts(AlertChange::RemoveRule { rule: id })).await;
        removed.or_not_found(|| unknown(id)).map(drop)
    }

    /// Queues a failed delivery again.
    pub async fn retry_delivery(&self, id: DeliveryId) -> Result<(), ControlError> {
        let change = AlertChange::Retry { delivery: id, at: self.state().clock.now() };
        let queued = self.command().change(Change::Alerts(change)).await;
        queued.or_not_found(|| format!("There is no alert {id}.")).map(drop)
    }
}

impl Control {
    /// One rule.
    pub async fn rule(&self, id: RuleId) -> Result<AlertRule, ControlError> {
        self.0.rule(id).await
    }
}

impl State {
    pub(crate) async fn rule(&self, id: RuleId) -> Result<AlertRule, ControlError> {
        self.store.alert_rule(id).await?.ok_or_else(|| ControlError::NotFound(unknown(id)))
    }
}

impl Command {
    async fn put_rule(&self, rule: AlertRule) -> Result<(), ControlError> {
        if let RuleScope::Group { name, .. } = &rule.scope
            && self.store.groups().get(name).is_none()
        {
            return Err(ControlError::field(
                "agent_id",
                format!("must name a group that exists: there is no group {name}"),
            ));
        }
        match self.change(Change::Alerts(AlertChange::PutRule { rule: rule.into() })).await {
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
