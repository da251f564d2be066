//! Changes that people make, each in a transaction that survives a power cut.

use model::{
    ANY, ActivatedBy, AgentId, CallId, DeactivatedBy, Epoch, Event, EventType, IncidentId, IncidentState, KillSwitch,
    Policy, Provider, Timestamp,
};

pub(super) mod agent_keys;
pub(super) mod exemptions;
mod groups;

use super::new_agent::NewAgent;
use super::{deletion, events};
use crate::columns::{signed, unsigned};
use crate::database::{self, Connection};
use crate::error::Failure;
use crate::files::KeyFile;
use crate::stats::group_spending;
use crate::{AccessChange, Change, Changed, Feedback, Notice, Store, StoreError, alerts, people, settings};

/// The result of a change, and the notice for watchers.
pub(super) type Outcome = Result<(Changed, Option<Notice>), Failure>;

/// Makes `change`.
pub(super) async fn apply(transaction: &mut Connection<'_>, change: &Change, store: &Store) -> Outcome {
    match change {
        Change::Configure { agent, kill_switch, window_floor, at } => {
            configure(transaction, NewAgent::first_seen(agent, kill_switch, *at), *window_floor).await
        }
        Change::Activate { agent, epoch, by, at } => {
            let activated = activate(transaction, agent, *epoch, (*by, *at)).await?;
            alerts::queue_activation(transaction, agent, *at, store.config.grouping).await?;
            Ok(activated)
        }
        Change::SetPolicy { agent, policy, kill_switch, at } => {
            set_policy(transaction, NewAgent::first_seen(agent, kill_switch, *at), policy).await
        }
        Change::ResetPolicy { agent } => reset_policy(transaction, agent.as_str()).await,
        Change::SetDefaultPolicy { policy: Some(policy) } => put_policy(transaction, ANY, policy).await,
        Change::SetDefaultPolicy { policy: None } => reset_policy(transaction, ANY).await,
        Change::Deactivate { agent, at } => deactivate(transaction, agent, *at).await,
        Change::Rename { agent, name } => rename(transaction, agent, name.as_deref()).await,
        Change::DeleteAgent { agent } => delete_agent(transaction, agent, store).await,
        Change::PutProvider { provider } => put_provider(transaction, provider, &store.keys).await,
        Change::RemoveProvider { name } => remove_provider(transaction, name).await,
        Change::SetFeedback { incident, feedback } => set_feedback(transaction, *incident, *feedback).await,
        Change::DeleteIncident { incident } => delete_incident(transaction, *incident).await,
        Change::AddExemption { row } => done(exemptions::add(transaction, row).await),
        Change::RemoveExemption { agent, id } => found(exemptions::remove(transaction, agent, *id).await),
        Change::Access(change) => apply_access(transaction, change).await,
        Change::PutSettings { settings } => done(crate::config::in_force::write(transaction, settings).await),
        Change::PutSmtpServer { server } => {
            done(settings::smtp::write(transaction, server.as_deref(), &store.keys).await)
        }
        Change::SetRecording { agent, enabled } => {
            done(settings::recording_switch::write(transaction, agent, *enabled).await)
        }
        Change::Alerts(change) => done(alerts::apply(transaction, change, store).await),
        Change::People(change) => done(people::apply(transaction, change).await),
        Change::Note(_) => done::<Failure>(Ok(())),
    }
}

async fn apply_access(transaction: &mut Connection<'_>, change: &AccessChange) -> Outcome {
    match change {
        AccessChange::AddKey { key } => done(agent_keys::add(transaction, key).await),
        AccessChange::RemoveKey { id } => found(agent_keys::remove(transaction, *id).await),
        AccessChange::NoteKeyUses { uses } => done(agent_keys::note_uses(transaction, uses).await),
        AccessChange::PutGroup { group } => done(groups::put(transaction, group).await),
        AccessChange::StopGroup { name, at } => found(groups::set_stopped(transaction, name, Some(*at)).await),
        AccessChange::ActivateGroup { name } => found(groups::set_stopped(transaction, name, None).await),
        AccessChange::RemoveGroup { name } => found(groups::remove(transaction, name).await),
        AccessChange::SetLabels { agent, labels } => found(groups::set_labels(transaction, agent, labels).await),
    }
}

async fn configure(transaction: &mut Connection<'_>, agent: NewAgent<'_>, window_floor: u64) -> Outcome {
    agent.insert(transaction).await?;
    let KillSwitch { enabled, window_size, threshold, action, counting } = *agent.kill_switch;
    database::query(
        "update agents set enabled = $1, window_size = $2, threshold = $3, action = $4, counting = $5, window_floor = $6
         where id = $7",
    )
    .bind(enabled)
    .bind(window_size)
    .bind(threshold)
    .bind(action.as_str())
    .bind(counting.as_str())
    .bind(signed(window_floor))
    .bind(agent.id.as_str())
    .execute(transaction)
    .await?;
    let notice = Notice::Configured { agent: agent.id.clone(), kill_switch: *agent.kill_switch };
    Ok((Changed::Done, Some(notice)))
}

async fn set_policy(transaction: &mut Connection<'_>, agent: NewAgent<'_>, policy: &Policy) -> Outcome {
    agent.insert(transaction).await?;
    put_policy(transaction, agent.id.as_str(), policy).await
}

/// Stores the policy of an agent, or of all others as [`ANY`].
async fn put_policy(transaction: &mut Connection<'_>, agent: &str, policy: &Policy) -> Outcome {
    let json = serde_json::to_string(policy).map_err(|error| sqlx::Error::Encode(error.into()))?;
    database::query(
        "insert into policies (agent_id, policy) values ($1, $2)
         on conflict (agent_id) do update set policy = excluded.policy",
    )
    .bind(agent)
    .bind(json)
    .execute(transaction)
    .await?;
    done::<Failure>(Ok(()))
}

async fn reset_policy(transaction: &mut Connection<'_>, agent: &str) -> Outcome {
    database::query("delete from policies where agent_id = $1").bind(agent).execute(transaction).await?;
    // An agent without its own policy already has the default.
    done::<Failure>(Ok(()))
}

async fn activate(
    transaction: &mut Connection<'_>,
    agent: &AgentId,
    epoch: Epoch,
    (by, at): (ActivatedBy, Timestamp),
) -> Outcome {
    // The floor counts calls of the epoch that ends.
    let begun: Option<i64> = database::query_scalar(
        "update agents set active = 1, deactivated_by = null, deactivated_at = null, incident_id = null,
            epoch = epoch + 1, window_floor = 0
         where id = $1 and epoch = $2 and active = 0 returning epoch",
    )
    .bind(agent.as_str())
    .bind(signed(epoch.0))
    .fetch_optional(&mut *transaction)
    .await?;
    let Some(begun) = begun else { return Err(why_not_activated(transaction, agent).await?.into()) };
    database::query(
        "update incidents set state = $1, closed_at = $2, closed_by = $3 where agent_id = $4 and state = $5",
    )
    .bind(IncidentState::Closed.as_str())
    .bind(at.as_millis())
    .bind(by.as_str())
    .bind(agent.as_str())
    .bind(IncidentState::Open.as_str())
    .execute(&mut *transaction)
    .await?;
    let begun = Epoch(unsigned(begun));
    let event = Event::new(CallId::at(at), agent.clone(), begun, EventType::AgentActivated, at);
    events::insert(transaction, &[&event]).await?;
    Ok((Changed::Activated(begun), Some(Notice::Event(event.into()))))
}

async fn why_not_activated(transaction: &mut Connection<'_>, agent: &AgentId) -> Result<StoreError, sqlx::Error> {
    let active: Option<bool> = database::query_scalar("select active from agents where id = $1")
        .bind(agent.as_str())
        .fetch_optional(transaction)
        .await?;
    Ok(match active {
        None => StoreError::NotFound,
        Some(true) => StoreError::Conflict(format!("{agent} is active")),
        Some(false) => StoreError::Conflict(format!("{agent} was activated and deactivated again in the meantime")),
    })
}

async fn deactivate(transaction: &mut Connection<'_>, agent: &AgentId, at: Timestamp) -> Outcome {
    let epoch: Option<i64> = database::query_scalar(
        "update agents set active = 0, deactivated_by = $1, deactivated_at = $2, incident_id = null
         where id = $3 and active = 1 returning epoch",
    )
    .bind(DeactivatedBy::Manual.as_str())
    .bind(at.as_millis())
    .bind(agent.as_str())
    .fetch_optional(&mut *transaction)
    .await?;
    let Some(epoch) = epoch else {
        // Already inactive: the first deactivation stays on record.
        return exists(transaction, agent).await;
    };
    let epoch = Epoch(unsigned(epoch));
    let event = Event::new(CallId::at(at), agent.clone(), epoch, EventType::AgentDeactivated, at);
    events::insert(transaction, &[&event]).await?;
    Ok((Changed::Done, Some(Notice::Event(event.into()))))
}

async fn exists(transaction: &mut Connection<'_>, agent: &AgentId) -> Outcome {
    let known: Option<i64> = database::query_scalar("select 1 from agents where id = $1")
        .bind(agent.as_str())
        .fetch_optional(transaction)
        .await?;
    found::<sqlx::Error>(Ok(known.is_some()))
}

async fn rename(transaction: &mut Connection<'_>, agent: &AgentId, name: Option<&str>) -> Outcome {
    let query = database::query("update agents set name = $1 where id = $2").bind(name).bind(agent.as_str());
    changed_or_not_found(query.execute(transaction).await?.rows_affected())
}

async fn delete_agent(transaction: &mut Connection<'_>, agent: &AgentId, store: &Store) -> Outcome {
    let (counting, now) = ((&store.groups, &store.config.unpriced), store.config.clock.now());
    group_spending::keep(transaction, agent, counting, now).await?;
    found(deletion::delete_rest(transaction, agent).await)
}

async fn put_provider(transaction: &mut Connection<'_>, provider: &Provider, keys: &KeyFile) -> Outcome {
    let sealed = provider.key.as_ref().map(|key| keys.seal(&provider.name, key)).transpose()?;
    let (ciphertext, key_id) = sealed.map(|sealed| (sealed.ciphertext, sealed.key_id)).unzip();
    database::query(
        "insert into providers (name, base_url, format, key_ciphertext, key_id) values ($1, $2, $3, $4, $5)
         on conflict (name) do update set base_url = excluded.base_url, format = excluded.format,
            key_ciphertext = coalesce(excluded.key_ciphertext, providers.key_ciphertext),
            key_id = coalesce(excluded.key_id, providers.key_id)",
    )
    .bind(&provider.name)
    .bind(&provider.base_url)
    .bind(provider.format.as_str())
    .bind(ciphertext)
    .bind(key_id)
    .execute(transaction)
    .await?;
    done::<Failure>(Ok(()))
}

async fn remove_provider(transaction: &mut Connection<'_>, name: &str) -> Outcome {
    let query = database::query("delete from providers where name = $1").bind(name);
    changed_or_not_found(query.execute(transaction).await?.rows_affected())
}

async fn set_feedback(transaction: &mut Connection<'_>, incident: IncidentId, feedback: Feedback) -> Outcome {
    let query = database::query("update incidents set feedback = $1 where id = $2");
    let query = query.bind(feedback.as_str()).bind(incident.to_string());
    changed_or_not_found(query.execute(transaction).await?.rows_affected())
}

async fn delete_incident(transaction: &mut Connection<'_>, incident: IncidentId) -> Outcome {
    // An agent that the incident deactivated stays inactive; it only loses the link to it.
    let query =
        database::query("update agents set incident_id = null where incident_id = $1").bind(incident.to_string());
    query.execute(&mut *transaction).await?;
    let query = database::query("delete from incidents where id = $1").bind(incident.to_string());
    changed_or_not_found(query.execute(transaction).await?.rows_affected())
}

/// The outcome of a change that watchers are not told of.
fn done<E: Into<Failure>>(made: Result<(), E>) -> Outcome {
    made.map(|()| (Changed::Done, None)).map_err(E::into)
}

/// The outcome of a change whose target may not exist.
fn found<E: Into<Failure>>(exists: Result<bool, E>) -> Outcome {
    if exists.map_err(E::into)? { done::<Failure>(Ok(())) } else { Err(StoreError::NotFound.into()) }
}

/// `NotFound` if no row was changed.
fn changed_or_not_found(rows: u64) -> Outcome {
    found::<Failure>(Ok(rows > 0))
}
