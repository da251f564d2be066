use super::*;
use secrecy::ExposeSecret;

fn secret(channel: &Channel) -> Option<String> {
    match channel.settings.as_ref()? {
        ChannelSettings::Webhook { secret, .. } => Some(secret.expose_secret().to_owned()),
        _ => None,
    }
}

#[tokio::test]
async fn channel_secret_is_encrypted_and_survives_a_restart() {
    let fixture = Fixture::new().await;
    let id = fixture.channel("ops").await;
    let fixture = fixture.restart().await;
    for file in std::fs::read_dir(fixture.directory.path().join("data")).unwrap() {
        let path = file.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        let found = bytes.windows(12).any(|window| CANARY.as_bytes().windows(12).any(|part| part == window));
        assert!(!found, "{}", path.display());
    }
    let channel = fixture.store.channel(id).await.unwrap().unwrap();
    assert_eq!(secret(&channel).as_deref(), Some(CANARY));
    assert!(!format!("{channel:?}").contains("canary"));
}

#[tokio::test]
async fn another_key_file_loses_only_channel_settings() {
    let fixture = Fixture::new().await;
    let id = fixture.channel("ops").await;
    std::fs::remove_file(fixture.directory.path().join("key")).unwrap();
    let fixture = fixture.restart().await;
    let channel = fixture.store.channel(id).await.unwrap().unwrap();
    assert_eq!((channel.name.as_str(), channel.settings.is_none()), ("ops", true));
}

#[tokio::test]
async fn channel_names_are_unique() {
    let fixture = Fixture::new().await;
    fixture.channel("ops").await;
    let refused = fixture.alerts(AlertChange::PutChannel { channel: webhook("ops").into() }).await;
    assert!(matches!(refused, Err(StoreError::Conflict(_))), "{refused:?}");
    assert_eq!(fixture.store.channels().await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_deleted_channel_leaves_its_rules_and_its_history() {
    let fixture = Fixture::new().await;
    let (a, b) = (fixture.channel("a").await, fixture.channel("b").await);
    let both = fixture.rule(rule("*", Condition::KillSwitch, &[a, b])).await;
    let only = [
        fixture.rule(rule("one", Condition::KillSwitch, &[a])).await,
        fixture.rule(rule("*", Condition::AgentDown { minutes: 5 }, &[a])).await,
    ];
    let off = AlertRule { enabled: false, ..rule("quiet", Condition::KillSwitch, &[a]) };
    let off = fixture.rule(off).await;
    fixture.kill_at("one", 0, 0).await;

    fixture.alerts(AlertChange::RemoveChannel { channel: a, at: NOON }).await.unwrap();
    let kept = fixture.store.alert_rule(both).await.unwrap().unwrap();
    assert_eq!((kept.channels, kept.enabled), (vec![b], true));
    let silencing = fixture.store.alert_rule(off).await.unwrap().unwrap();
    assert_eq!((silencing.channels, silencing.enabled), (vec![], false), "what was off stays off");
    for only in only {
        assert!(fixture.store.alert_rule(only).await.unwrap().is_none(), "no channel left must not mean every channel");
    }
    let told: Vec<_> = fixture.queued().await.into_iter().map(|it| (it.channel_name, it.state, it.reason)).collect();
    let gone = (String::from("a"), DeliveryState::Failed, Some("the channel was deleted".to_owned()));
    assert_eq!(told, [gone, ("b".to_owned(), DeliveryState::Queued, None)]);
    let again = fixture.alerts(AlertChange::RemoveChannel { channel: a, at: NOON }).await;
    assert!(matches!(again, Err(StoreError::NotFound)));
}

#[tokio::test]
async fn deleting_the_only_channel_of_a_rule_restores_the_built_in_rule() {
    let fixture = Fixture::new().await;
    let old = fixture.channel("old").await;
    fixture.rule(rule("*", Condition::KillSwitch, &[old])).await;
    fixture.alerts(AlertChange::RemoveChannel { channel: old, at: NOON }).await.unwrap();
    fixture.channel("new").await;
    assert!(fixture.store.notifies_of_kills(&id("looper")).await.unwrap());
    fixture.kill_at("looper", 0, 0).await;
    assert_eq!(fixture.sent_alerts().await, [("new".to_owned(), "agent.killed")]);
}
