//! What people set: settings, providers, policies, exemptions.

use model::{Exempt, Exemption, ExemptionId, Format, KillSwitch, NanoUsd, Policy, Provider, TextHash, Timestamp};
use secrecy::{ExposeSecret, SecretString};
use store::{Change, ExemptionRow, RetentionChange, SettingsChange};

use crate::backend::{Backend, NOON, call, id};

pub(crate) async fn settings_survive_a_restart(backend: &impl Backend) {
    let server = backend.create().await;
    let retention = RetentionChange { event_days: Some(3), ..RetentionChange::default() };
    let settings = SettingsChange { retention, ..SettingsChange::default() };
    server.change(Change::PutSettings { settings }).await.unwrap();
    assert_eq!(server.store.settings().retention.event_days, 3, "in force at once");
    let server = server.restart().await;
    assert_eq!(server.store.settings().retention.event_days, 3);
    assert_eq!(server.store.settings_change(), settings);
    assert_eq!(server.store.configured_settings().retention.event_days, 30);
}

pub(crate) async fn provider_keys_are_encrypted_and_come_back(backend: &impl Backend) {
    let server = backend.create().await;
    let provider = Provider::new("openai", "https://api.example.com/v1", Format::Openai).unwrap();
    let with_key = Provider { key: Some(SecretString::from("sk-0123456789")), ..provider.clone() };
    server.change(Change::PutProvider { provider: with_key }).await.unwrap();
    server.change(Change::PutProvider { provider }).await.unwrap();
    let server = server.restart().await;
    let stored = server.store.providers().await.unwrap();
    let key = stored[0].key.as_ref().map(|key| key.expose_secret().to_owned());
    assert_eq!(key.as_deref(), Some("sk-0123456789"), "a provider without a key keeps the stored one");
    server.change(Change::RemoveProvider { name: "openai".to_owned() }).await.unwrap();
    assert!(server.store.providers().await.unwrap().is_empty());
}

pub(crate) async fn policies_survive_a_restart(backend: &impl Backend) {
    let server = backend.create().await;
    let policy = Policy { budget_daily: Some(NanoUsd::new(5)), ..Policy::default() };
    let kill_switch = KillSwitch::default();
    let set = Change::SetPolicy { agent: id("ann"), policy: policy.clone().into(), kill_switch, at: NOON };
    server.change(set).await.unwrap();
    server.change(Change::SetDefaultPolicy { policy: Some(policy.clone().into()) }).await.unwrap();
    let server = server.restart().await;
    assert_eq!(server.store.policies().await.unwrap(), [(id("ann"), policy.clone())]);
    assert_eq!(server.store.default_policy().await.unwrap(), Some(policy));
    server.change(Change::ResetPolicy { agent: id("ann") }).await.unwrap();
    server.change(Change::SetDefaultPolicy { policy: None }).await.unwrap();
    assert_eq!(server.store.policies().await.unwrap(), []);
    assert_eq!(server.store.default_policy().await.unwrap(), None);
}

pub(crate) async fn exemptions_end(backend: &impl Backend) {
    let server = backend.create().await;
    server.record(&[call("ann", NOON)]).await;
    let until = Timestamp::from_millis(NOON.as_millis() + 1000);
    let exemption = Exemption { id: ExemptionId::new(), exempt: Exempt::Prompt(TextHash(7)), until };
    let row = ExemptionRow { exemption, agent: id("ann"), text: "go on".to_owned(), incident: None, created_at: NOON };
    server.change(Change::AddExemption { row: row.clone() }).await.unwrap();
    assert_eq!(server.store.exemptions(&id("ann"), NOON).await.unwrap(), [row]);
    assert_eq!(server.store.exemptions(&id("ann"), until).await.unwrap(), []);
}
