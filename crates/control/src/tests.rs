//! Every command on a store that refuses it: memory does not change.

#![allow(clippy::unwrap_used, reason = "a test may")]

use model::{ExemptionId, Format, KillSwitch, KillSwitchChange, NanoUsd, PolicyChange};
use store::SettingsChange;

use crate::test_support::{Fixture, agent};
use crate::{AgentChange, ControlError, ProviderChange};

/// The state in memory that calls are judged by.
#[derive(Debug, PartialEq)]
struct Memory {
    kill_switch: KillSwitch,
    defaults: KillSwitch,
    daily_budget: Option<NanoUsd>,
    default_budget: Option<NanoUsd>,
    providers: Vec<String>,
    window_floor: u64,
}

impl Memory {
    fn of(fixture: &Fixture) -> Memory {
        let kill_switch = fixture.guard.agent(&agent()).unwrap().kill_switch;
        let policies = fixture.guard.policies();
        let smaller = KillSwitch { window_size: 2, ..kill_switch };
        Memory {
            kill_switch,
            defaults: fixture.guard.defaults(),
            daily_budget: policies.policy(&agent()).budget_daily,
            default_budget: policies.default_policy().budget_daily,
            providers: fixture.control.0.providers.all().iter().map(|provider| provider.base_url.clone()).collect(),
            window_floor: fixture.guard.window_floor_after(&agent(), smaller),
        }
    }
}

fn budget(usd: f64) -> PolicyChange {
    PolicyChange { budget_daily_usd: Some(Some(usd)), ..PolicyChange::default() }
}

fn provider(base_url: &str) -> ProviderChange {
    ProviderChange { base_url: Some(base_url.to_owned()), format: Some(Format::Openai), key: None }
}

fn defaults_of(window_size: u64) -> SettingsChange {
    let kill_switch = KillSwitchChange { window_size: Some(window_size), ..KillSwitchChange::default() };
    SettingsChange { kill_switch, ..SettingsChange::default() }
}

#[tokio::test]
async fn command_that_cannot_be_stored_changes_nothing_in_memory() {
    let mut fixture = Fixture::start().await;
    (0..5).for_each(|_| drop(fixture.call(&agent())));
    let control = fixture.commands();
    control.set_policy(agent(), budget(5.0)).await.unwrap();
    control.put_provider("local".to_owned(), provider("http://127.0.0.1:1")).await.unwrap();
    let before = Memory::of(&fixture);
    fixture.break_store().await;

    let smaller = KillSwitchChange { window_size: Some(2), ..KillSwitchChange::default() };
    let refused: [(&str, Result<(), ControlError>); 12] = [
        ("configure", control.configure(agent(), smaller).await),
        ("set_policy", control.set_policy(agent(), budget(1.0)).await),
        ("reset_policy", control.reset_policy(agent()).await),
        ("set_default_policy", control.set_default_policy(budget(1.0)).await),
        ("reset_default_policy", control.reset_default_policy().await),
        ("change_settings", control.change_settings(defaults_of(3)).await),
        ("reset_settings", control.reset_settings().await),
        ("put_provider", control.put_provider("local".to_owned(), provider("http://127.0.0.1:2")).await),
        ("remove_provider", control.remove_provider("local".to_owned()).await),
        ("revoke_exemption", control.revoke_exemption(agent(), ExemptionId::new()).await),
        ("delete_agent", control.delete_agent(agent()).await),
        ("rename", control.rename(agent(), Some("name".to_owned())).await),
    ];
    for (command, result) in refused {
        assert!(matches!(result, Err(ControlError::Store(_))), "{command}: {result:?}");
    }
    assert_eq!(Memory::of(&fixture), before);
    assert!(fixture.guard.policies().counted(&agent()).is_some_and(|limits| limits.is_own()));
}

#[tokio::test]
async fn change_of_an_agent_with_an_invalid_name_changes_nothing() {
    let fixture = Fixture::start().await;
    fixture.call(&agent());
    let change = AgentChange { name: Some(Some(" ".to_owned())), active: Some(false) };
    let error = fixture.commands().change_agent(agent(), change).await.unwrap_err();
    assert!(error.to_string().starts_with("name must have 1 to 200 characters"), "{error}");
    assert!(fixture.guard.refuses(&agent()).is_none());
}

#[tokio::test]
async fn changes_of_an_agent_are_made_together() {
    let fixture = Fixture::start().await;
    fixture.call(&agent());
    let change = AgentChange { name: Some(Some("Importer".to_owned())), active: Some(false) };
    fixture.commands().change_agent(agent(), change).await.unwrap();
    let seen = fixture.control.agent(agent()).await.unwrap();
    assert_eq!((seen.name.as_deref(), seen.deactivation.is_some()), (Some("Importer"), true));
}
