//! What people set for all agents.

use model::{Action, KillSwitch, KillSwitchChange};

use super::*;
use crate::{RetentionChange, Settings, SettingsChange};

fn change() -> SettingsChange {
    SettingsChange {
        kill_switch: KillSwitchChange { enabled: Some(true), action: Some(Action::Block), ..Default::default() },
        retention: RetentionChange { event_days: Some(7), ..Default::default() },
    }
}

#[tokio::test]
async fn settings_hold_for_new_agents_and_after_a_restart() {
    let fixture = Fixture::new().await;
    fixture.record(call("before")).await;
    fixture.change(Change::PutSettings { settings: change() }).await.unwrap();
    fixture.record(call("after")).await;
    let fixture = fixture.restart().await;

    let expected = KillSwitch { enabled: true, action: Action::Block, ..KillSwitch::default() };
    assert_eq!(fixture.store.settings().kill_switch, expected);
    assert_eq!(fixture.store.settings().retention.event_days, 7);
    assert_eq!(fixture.store.configured_settings(), Settings::default());
    let of = async |agent| fixture.store.agent(&id(agent)).await.unwrap().unwrap().kill_switch;
    assert_eq!((of("before").await, of("after").await), (KillSwitch::default(), expected));
    let otherwise = fixture.store.agents_set_otherwise(expected).await.unwrap();
    assert_eq!(otherwise, [(id("before"), KillSwitch::default())]);

    fixture.change(Change::PutSettings { settings: SettingsChange::default() }).await.unwrap();
    assert_eq!(fixture.store.settings(), Settings::default());
}

#[test]
fn settings_change_keeps_fields_it_does_not_name() {
    let later = SettingsChange {
        kill_switch: KillSwitchChange { threshold: Some(3.0), ..Default::default() },
        retention: RetentionChange { event_days: Some(9), ..Default::default() },
    };
    let both = change().then(later);
    assert_eq!((both.kill_switch.enabled, both.kill_switch.threshold), (Some(true), Some(3.0)));
    assert_eq!(both.retention.event_days, Some(9));
}

#[test]
fn invalid_retention_names_its_field() {
    for days in [0, 36_501, u64::MAX] {
        let change = RetentionChange { incident_days: Some(days), ..Default::default() };
        let error = change.apply(crate::Retention::default()).unwrap_err();
        assert_eq!(error.to_string(), "incident_days must be a whole number of days from 1 to 36500");
    }
}
