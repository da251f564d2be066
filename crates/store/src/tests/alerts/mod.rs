//! Channels, rules and the outbox.

mod channels;
mod digests;
mod outbox;
mod transitions;

use super::*;
use crate::{AlertChange, Attempt, DeliveryFilter, DeliveryRow, Outcome};
use model::{
    AlertRule, AlertType, Channel, ChannelId, ChannelKind, ChannelSettings, Condition, DeliveryId, DeliveryState,
    RuleId, RuleScope,
};

const CANARY: &str = "whsec_canary0123456789abcdefghijklmnop";

impl Fixture {
    async fn alerts(&self, change: AlertChange) -> Result<Changed, StoreError> {
        self.change(Change::Alerts(change)).await
    }

    pub(super) async fn channel(&self, name: &str) -> ChannelId {
        let channel = webhook(name);
        let id = channel.id;
        self.alerts(AlertChange::PutChannel { channel: channel.into() }).await.unwrap();
        id
    }

    pub(super) async fn rule(&self, rule: AlertRule) -> RuleId {
        let id = rule.id;
        self.alerts(AlertChange::PutRule { rule: rule.into() }).await.unwrap();
        id
    }

    /// Everything that was queued, oldest first.
    pub(super) async fn queued(&self) -> Vec<DeliveryRow> {
        let mut items = self.store.deliveries(&DeliveryFilter::default(), &page(500)).await.unwrap().items;
        items.reverse();
        items
    }

    /// The channels that were notified, and of what.
    async fn sent_alerts(&self) -> Vec<(String, &'static str)> {
        self.queued().await.into_iter().map(|it| (it.channel_name, it.alert_type.as_str())).collect()
    }

    async fn kill_at(&self, agent: &str, epoch: u64, seconds: i64) {
        assert!(self.send_kill(incident_at(agent, epoch, seconds)).wait().await);
    }

    async fn observe_at(&self, agent: &str, seconds: i64) {
        let mut observed = incident_at(agent, 0, seconds);
        observed.state = IncidentState::Observed;
        let mut notices = self.recorder.subscribe();
        self.handle.observed(observed);
        while !matches!(next(&mut notices).await, Notice::Incident { .. }) {}
    }

    pub(super) async fn attempted(&self, delivery: DeliveryId, outcome: Outcome) {
        let status = Some(if outcome == Outcome::Gone { 410 } else { 200 });
        let attempt = Attempt { at: NOON, took_ms: 7, status, answer: "ok".to_owned(), outcome };
        self.alerts(AlertChange::Attempted { delivery, attempt }).await.unwrap();
    }
}

fn after(seconds: i64) -> Timestamp {
    Timestamp::from_millis(NOON.as_millis() + seconds * 1000)
}

fn incident_at(agent: &str, epoch: u64, seconds: i64) -> Incident {
    let mut incident = incident(agent, epoch);
    incident.kill.at = after(seconds);
    incident
}

fn webhook(name: &str) -> Channel {
    Channel {
        id: ChannelId::new(),
        kind: ChannelKind::Webhook,
        name: name.to_owned(),
        enabled: true,
        disabled_reason: None,
        created_at: NOON,
        settings: Some(ChannelSettings::Webhook { url: "https://example.com/hook".to_owned(), secret: CANARY.into() }),
    }
}

pub(super) fn rule(scope: &str, condition: Condition, channels: &[ChannelId]) -> AlertRule {
    AlertRule {
        id: RuleId::new(),
        scope: RuleScope::parse(scope).unwrap(),
        condition,
        channels: channels.to_vec(),
        cooldown_minutes: 15,
        repeat_minutes: None,
        notify_recovery: false,
        enabled: true,
        created_at: NOON,
    }
}
