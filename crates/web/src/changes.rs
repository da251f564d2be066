//! The changes that people make, each in memory (`guard`) and on disk (`store`). Memory is what calls are judged by, disk
//! is what a restart finds; the order of the two says which may be ahead of the other when the disk fails.

mod policy;

use std::time::Duration;

use model::{
    ActivatedBy, AgentId, DeactivatedBy, Deactivation, Epoch, ExemptionId, FieldError, KillSwitch, KillSwitchChange,
    Provider, Timestamp,
};
use store::{Change, Changed, ExemptionRow, Settings, SettingsChange, StoreError};

use crate::app::App;
use crate::problem::Problem;

pub(crate) use policy::{reset_policy, set_default_policy, set_policy};

/// How often, and how far apart, an activation is tried while the kill it follows is still on its way to disk.
const ACTIVATION_ATTEMPTS: u32 = 40;
const ACTIVATION_PAUSE: Duration = Duration::from_millis(50);

/// An agent as it stands, wherever it is known from.
struct Known {
    deactivation: Option<Deactivation>,
    epoch: Epoch,
    kill_switch: KillSwitch,
}

/// Changes the kill switch of an agent, which is created if it is unknown.
pub(crate) async fn configure(app: App, agent: AgentId, change: KillSwitchChange) -> Result<(), Problem> {
    let web = app.web();
    let current = known(&app, &agent).await?.map_or(web.guard.defaults(), |known| known.kill_switch);
    let kill_switch = change.apply(current)?;

    let configured = web.guard.configure(&agent, kill_switch);
    let window_floor = configured.window_floor;
    let change = Change::Configure { agent: agent.clone(), kill_switch, window_floor, at: web.clock.now() };
    if let Err(error) = web.recorder.change(change).await {
        // What is not on disk would be gone after a restart: better that it never held.
        web.guard.configure(&agent, configured.before);
        return Err(error.into());
    }
    Ok(())
}

/// Activates an agent: on disk first, because a call that passes must never be followed by a restart that refuses it again.
pub(crate) async fn activate(app: App, agent: AgentId, by: ActivatedBy) -> Result<(), Problem> {
    let known = known(&app, &agent).await?.ok_or_else(|| unknown(&agent))?;
    let Some(deactivation) = known.deactivation else { return Ok(()) };
    let epoch = store_activation(&app, &agent, (known.epoch, deactivation), by).await?;
    app.web().guard.activate(&agent, epoch);
    Ok(())
}

/// Stores the activation that ends `epoch`, waiting a little for a deactivation that is not on disk yet.
async fn store_activation(
    app: &App,
    agent: &AgentId,
    (epoch, was): (Epoch, Deactivation),
    by: ActivatedBy,
) -> Result<Epoch, Problem> {
    for _ in 0..ACTIVATION_ATTEMPTS {
        let change = Change::Activate { agent: agent.clone(), epoch, by, at: app.web().clock.now() };
        match app.web().recorder.change(change).await {
            Ok(Changed::Activated(epoch)) => return Ok(epoch),
            Ok(Changed::Done) => return Ok(epoch.next()),
            Err(StoreError::Conflict(_) | StoreError::NotFound) => {}
            Err(error) => return Err(error.into()),
        }
        match was.by {
            // One made by hand while the database was down was never stored, and nobody else will.
            DeactivatedBy::Manual => store_deactivation(app, agent, was.at).await?,
            DeactivatedBy::KillSwitch => tokio::time::sleep(ACTIVATION_PAUSE).await,
        }
    }
    Err(Problem::unavailable(format!("The kill of {agent} is still being written; it stays inactive. Try again.")))
}

/// Deactivates an agent: in memory first, because it must stop now, whatever the disk does.
pub(crate) async fn deactivate(app: App, agent: AgentId) -> Result<(), Problem> {
    let web = app.web();
    known(&app, &agent).await?.ok_or_else(|| unknown(&agent))?;
    let deactivation = web.guard.deactivate(&agent, web.clock.now()).or_else(|| web.guard.refuses(&agent));
    let Some(Deactivation { by: DeactivatedBy::Manual, at, .. }) = deactivation else { return Ok(()) };

    // Also if it was inactive already: that may not have been stored.
    store_deactivation(&app, &agent, at).await.map_err(|error| {
        tracing::warn!(%agent, %error, "a deactivation could not be stored");
        Problem::unavailable(format!(
            "{agent} is inactive, but that could not be stored: a restart would activate it again. Repeat the request."
        ))
    })
}

/// Gives an agent a name for people, or takes it away.
pub(crate) async fn rename(app: App, agent: AgentId, name: Option<String>) -> Result<(), Problem> {
    known(&app, &agent).await?.ok_or_else(|| unknown(&agent))?;
    store_agent(&app, &agent).await?;
    app.web().recorder.change(Change::Rename { agent, name }).await?;
    Ok(())
}

async fn store_deactivation(app: &App, agent: &AgentId, at: Timestamp) -> Result<(), StoreError> {
    store_agent(app, agent).await?;
    app.web().recorder.change(Change::Deactivate { agent: agent.clone(), at }).await?;
    Ok(())
}

/// Makes sure that an agent which memory knows is on disk: its first call may still be on its way there.
async fn store_agent(app: &App, agent: &AgentId) -> Result<(), StoreError> {
    let web = app.web();
    if web.store.agent(agent).await?.is_some() {
        return Ok(());
    }
    let Some(live) = web.guard.agent(agent) else { return Ok(()) };
    let (kill_switch, at) = (live.kill_switch, web.clock.now());
    let window_floor = web.guard.configure(agent, kill_switch).window_floor;
    web.recorder.change(Change::Configure { agent: agent.clone(), kill_switch, window_floor, at }).await?;
    Ok(())
}

/// Deletes an agent and all its data: on disk first, so that a failure leaves it whole.
pub(crate) async fn delete(app: App, agent: AgentId) -> Result<(), Problem> {
    let web = app.web();
    let in_memory = web.guard.agent(&agent).is_some();
    web.guard.spare(&agent, true);
    match web.recorder.change(Change::DeleteAgent { agent: agent.clone() }).await {
        Err(StoreError::NotFound) if !in_memory => return Err(unknown(&agent)),
        Ok(_) | Err(StoreError::NotFound) => {}
        Err(error) => {
            web.guard.spare(&agent, false);
            return Err(error.into());
        }
    }
    web.guard.forget(&agent);
    Ok(())
}

/// Lets something pass that would count: on disk first, so that no restart takes back what held.
pub(crate) async fn exempt(app: App, row: ExemptionRow) -> Result<(), Problem> {
    let agent = row.agent.clone();
    store_agent(&app, &agent).await?;
    match app.web().recorder.change(Change::AddExemption { row }).await {
        Err(StoreError::NotFound) => Err(unknown(&agent)),
        stored => {
            stored?;
            use_exemptions(&app, &agent).await
        }
    }
}

/// Lets something count again.
pub(crate) async fn revoke(app: App, agent: AgentId, id: ExemptionId) -> Result<(), Problem> {
    match app.web().recorder.change(Change::RemoveExemption { agent: agent.clone(), id }).await {
        Err(StoreError::NotFound) => Err(Problem::not_found(format!("{agent} has no exemption {id}."))),
        revoked => {
            revoked?;
            use_exemptions(&app, &agent).await
        }
    }
}

/// Has the next call judged by the exemptions that are stored.
async fn use_exemptions(app: &App, agent: &AgentId) -> Result<(), Problem> {
    let rows = app.web().store.exemptions(agent, app.web().clock.now()).await?;
    app.web().guard.exempt(agent, rows.into_iter().map(|row| row.exemption).collect());
    Ok(())
}

/// Changes what holds for all agents: for the next one that is new, and for the next time that old things are deleted.
pub(crate) async fn change_settings(app: App, change: SettingsChange) -> Result<(), Problem> {
    let set = app.web().store.settings_change().then(change);
    put_settings(&app, set).await
}

/// Takes back what was set for all agents: it is as configured.
pub(crate) async fn reset_settings(app: App) -> Result<(), Problem> {
    put_settings(&app, SettingsChange::default()).await
}

async fn put_settings(app: &App, set: SettingsChange) -> Result<(), Problem> {
    let web = app.web();
    let defaults = checked_defaults(web.store.configured_settings(), set)?;
    web.recorder.change(Change::PutSettings { settings: set }).await?;
    // An agent that has left memory would come back with the new ones: it keeps its own.
    for (agent, kill_switch) in web.store.agents_set_otherwise(defaults).await? {
        if web.guard.agent(&agent).is_none() {
            web.guard.configure(&agent, kill_switch);
        }
    }
    web.guard.set_defaults(defaults);
    Ok(())
}

/// What new agents would start with, or the field that is wrong.
fn checked_defaults(configured: Settings, set: SettingsChange) -> Result<KillSwitch, Problem> {
    let of = |part: &str, error: FieldError| Problem::field(format!("{part}.{}", error.field), error.message);
    set.retention.apply(configured.retention).map_err(|error| of("retention", error))?;
    set.kill_switch.apply(configured.kill_switch).map_err(|error| of("kill_switch", error))
}

/// Adds or replaces a provider; the next call uses it.
pub(crate) async fn put_provider(app: App, provider: Provider) -> Result<(), Problem> {
    app.web().recorder.change(Change::PutProvider { provider: provider.clone() }).await?;
    app.web().providers.put(provider);
    Ok(())
}

/// Takes back what was stored of a provider: the built-in or configured one is used again, if there is one.
pub(crate) async fn remove_provider(app: App, name: String) -> Result<(), Problem> {
    let web = app.web();
    match web.recorder.change(Change::RemoveProvider { name: name.clone() }).await {
        Err(StoreError::NotFound) => return Err(Problem::not_found(format!("Nothing is stored for provider {name}."))),
        stored => stored?,
    };
    match web.configured_providers.iter().find(|provider| provider.name == name) {
        Some(configured) => web.providers.put(configured.clone()),
        None => web.providers.remove(&name),
    }
    Ok(())
}

/// The agent as it stands: from memory, which is ahead of the disk, or from the disk if it has left memory.
async fn known(app: &App, agent: &AgentId) -> Result<Option<Known>, Problem> {
    if let Some(live) = app.web().guard.agent(agent) {
        let guard::AgentView { deactivation, epoch, kill_switch, .. } = live;
        return Ok(Some(Known { deactivation, epoch, kill_switch }));
    }
    let row = app.web().store.agent(agent).await?;
    Ok(row.map(|row| Known { deactivation: row.deactivation, epoch: row.epoch, kill_switch: row.kill_switch }))
}

/// Fails if there is no such agent.
pub(crate) async fn must_be_known(app: &App, agent: &AgentId) -> Result<(), Problem> {
    known(app, agent).await?.map(drop).ok_or_else(|| unknown(agent))
}

/// There is no such agent.
pub(crate) fn unknown(agent: &AgentId) -> Problem {
    Problem::not_found(format!("There is no agent {agent}."))
}
