//! The outbox: what is queued with its cause, tried and recorded.

use model::{
    AlertRule, AlertType, Channel, ChannelId, ChannelKind, ChannelSettings, Condition, DeliveryState, RuleId, RuleScope,
};
use store::{AlertChange, Attempt, Change, DeliveryFilter, DeliveryRow, Outcome, StoreError};

use crate::backend::{Backend, NOON, Server, page};

async fn add_channel(server: &Server, name: &str) -> ChannelId {
    let channel = Channel {
        id: ChannelId::new(),
        kind: ChannelKind::Webhook,
        name: name.to_owned(),
        enabled: true,
        disabled_reason: None,
        created_at: NOON,
        settings: Some(ChannelSettings::Webhook {
            url: "https://example.com/hook".to_owned(),
            secret: "whsec_0123456789abcdefghijklmnop".into(),
        }),
    };
    let id = channel.id;
    server.change(Change::Alerts(AlertChange::PutChannel { channel: channel.into() })).await.unwrap();
    id
}

async fn history(server: &Server) -> Vec<DeliveryRow> {
    let mut rows = server.store.deliveries(&DeliveryFilter::default(), &page(100)).await.unwrap().items;
    rows.reverse();
    rows
}

pub(crate) async fn kill_queues_one_delivery_per_channel(backend: &impl Backend) {
    let server = backend.create().await;
    let (one, two) = (add_channel(&server, "one").await, add_channel(&server, "two").await);
    server.kill("ann", 0).await;
    server.kill("ann", 0).await;
    let mut queued: Vec<_> = history(&server).await.into_iter().map(|row| (row.channel, row.alert_type)).collect();
    queued.sort_unstable_by_key(|(channel, _)| *channel != one);
    assert_eq!(queued, [(one, AlertType::Killed), (two, AlertType::Killed)]);
    assert_eq!(server.store.due(one, NOON, 10).await.unwrap().len(), 1);
}

pub(crate) async fn attempt_that_is_given_up_can_be_retried(backend: &impl Backend) {
    let server = backend.create().await;
    add_channel(&server, "one").await;
    server.kill("ann", 0).await;
    let delivery = history(&server).await[0].id;
    let attempt =
        Attempt { at: NOON, took_ms: 7, status: Some(500), answer: "no".to_owned(), outcome: Outcome::GivenUp };
    server.change(Change::Alerts(AlertChange::Attempted { delivery, attempt })).await.unwrap();
    let row = server.store.delivery(delivery).await.unwrap().unwrap();
    assert_eq!((row.state, row.attempts.len()), (DeliveryState::Failed, 1));
    server.change(Change::Alerts(AlertChange::Retry { delivery, at: NOON })).await.unwrap();
    assert_eq!(server.store.delivery(delivery).await.unwrap().unwrap().state, DeliveryState::Queued);
    let twice = server.change(Change::Alerts(AlertChange::Retry { delivery, at: NOON })).await;
    assert!(matches!(twice, Err(StoreError::Conflict(_))), "only a failed delivery can be retried");
}

pub(crate) async fn recovery_is_queued_with_the_activation(backend: &impl Backend) {
    let server = backend.create().await;
    let channel = add_channel(&server, "one").await;
    let rule = AlertRule {
        id: RuleId::new(),
        scope: RuleScope::parse("ann").unwrap(),
        condition: Condition::KillSwitch,
        channels: vec![channel],
        cooldown_minutes: 15,
        repeat_minutes: None,
        notify_recovery: true,
        enabled: true,
        created_at: NOON,
    };
    server.change(Change::Alerts(AlertChange::PutRule { rule: rule.into() })).await.unwrap();
    server.kill("ann", 0).await;
    server.activate("ann", 0).await.unwrap();
    let types: Vec<AlertType> = history(&server).await.into_iter().map(|row| row.alert_type).collect();
    assert_eq!(types, [AlertType::Killed, AlertType::Recovered]);
}
