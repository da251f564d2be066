//! Agent keys: people create, list and revoke them; calls are checked against those in memory.

use std::sync::Arc;

use model::{AgentKey, AgentKeyId, AgentPattern, KeyInForce, KeyRefusal, KeyText, RefusedCaller, Timestamp};
use store::{AccessChange, Change};

use crate::error::OrNotFound;
use crate::{Command, Commands, Control, ControlError};

const MAX_NAME_LENGTH: usize = 200;

/// A key to create.
#[derive(Clone, Debug)]
pub struct NewAgentKey {
    /// The agent it authenticates, or a pattern of names.
    pub agents: AgentPattern,
    /// Its display name.
    pub name: Option<String>,
    /// When it expires; `None` for never.
    pub expires_at: Option<Timestamp>,
}

impl Commands {
    /// Creates an agent key. Its text is returned once and not kept.
    pub async fn create_agent_key(&self, new: NewAgentKey) -> Result<(AgentKey, KeyText), ControlError> {
        self.exclusive(move |command| async move { command.create_agent_key(new).await }).await
    }

    /// Revokes an agent key: the next call with it is refused.
    pub async fn revoke_agent_key(&self, id: AgentKeyId) -> Result<(), ControlError> {
        self.exclusive(move |command| async move {
            let removed = command.change(Change::Access(AccessChange::RemoveKey { id })).await;
            removed.or_not_found(|| format!("There is no agent key {id}."))?;
            command.agent_keys.remove(id);
            Ok(())
        })
        .await
    }
}

impl Control {
    /// All agent keys, oldest first.
    pub fn agent_keys(&self) -> Vec<Arc<KeyInForce>> {
        self.0.agent_keys.all()
    }

    /// How many calls were refused for their agent key since the start, by reason.
    pub fn key_refusals(&self) -> [(KeyRefusal, u64); KeyRefusal::ALL.len()] {
        self.0.agent_keys.refusals()
    }

    /// The clients whose agent keys were refused since the start, the newest first.
    pub fn refused_callers(&self) -> Vec<RefusedCaller> {
        self.0.agent_keys.refused_callers()
    }

    /// Whether calls need an agent key now.
    pub fn requires_key(&self) -> bool {
        self.0.key_requirement.requires_key(|| false, || self.0.providers.have_keys())
    }

    /// Stores when keys were last used. Called once a minute, so that no call waits for it.
    pub async fn store_key_uses(&self) {
        let uses = self.0.agent_keys.unstored_uses();
        if uses.is_empty() {
            return;
        }
        match self.0.store_key_uses(uses.clone()).await {
            Ok(()) => self.0.agent_keys.note_stored_uses(&uses),
            // They are stored with the next ones.
            Err(error) => tracing::debug!(%error, "the last use of agent keys could not be stored"),
        }
    }
}

impl Command {
    async fn create_agent_key(&self, new: NewAgentKey) -> Result<(AgentKey, KeyText), ControlError> {
        let NewAgentKey { agents, name, expires_at } = new;
        let now = self.clock.now();
        if expires_at.is_some_and(|end| end <= now) {
            return Err(ControlError::field("expires_at", "must be in the future"));
        }
        let name = name.map(|name| checked_name(&name)).transpose()?;
        if self.agent_keys.all().len() >= AgentKey::MOST {
            let text = format!("There are {} agent keys already; revoke one first.", AgentKey::MOST);
            return Err(ControlError::TooMany(text));
        }
        let text = KeyText::random(getrandom::fill).map_err(|error| ControlError::Failed(error.to_string()))?;
        let (id, hash) = (AgentKeyId::new(), text.hash());
        let key = AgentKey { id, name, agents, hash, created_at: now, expires_at, last_used_at: None };
        self.change(Change::Access(AccessChange::AddKey { key: Box::new(key.clone()) })).await?;
        self.agent_keys.add(key.clone());
        Ok((key, text))
    }
}

fn checked_name(name: &str) -> Result<String, ControlError> {
    let name = name.trim();
    let fits = !name.is_empty() && name.chars().count() <= MAX_NAME_LENGTH;
    if !fits || name.chars().any(char::is_control) {
        return Err(ControlError::field("name", "must have 1 to 200 characters, without control characters"));
    }
    // A key may have been pasted into the wrong field, and names are shown.
    if name.contains(KeyText::PREFIX) {
        return Err(ControlError::field("name", "must not contain an agent key"));
    }
    Ok(name.to_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may")]

    use model::KeyHash;

    use super::*;
    use crate::test_support::Fixture;

    fn new(agents: &str) -> NewAgentKey {
        NewAgentKey { agents: AgentPattern::parse(agents).unwrap(), name: Some("ci".to_owned()), expires_at: None }
    }

    #[tokio::test]
    async fn key_is_valid_until_revoked_and_only_its_hash_is_stored() {
        let fixture = Fixture::start().await;
        let keys = &fixture.control.0.agent_keys;
        let (key, text) = fixture.commands().create_agent_key(new("bot")).await.unwrap();
        assert!(keys.find(&KeyHash::of(text.expose())).is_some());
        assert_eq!(fixture.store.agent_keys().await.unwrap(), std::slice::from_ref(&key));

        fixture.commands().revoke_agent_key(key.id).await.unwrap();
        assert!(keys.find(&key.hash).is_none());
        assert!(fixture.store.agent_keys().await.unwrap().is_empty());
        let again = fixture.commands().revoke_agent_key(key.id).await;
        assert!(matches!(again, Err(ControlError::NotFound(_))), "{again:?}");
    }

    #[tokio::test]
    async fn revocation_that_cannot_be_stored_changes_nothing() {
        let mut fixture = Fixture::start().await;
        let (key, _) = fixture.commands().create_agent_key(new("bot")).await.unwrap();
        fixture.break_store().await;
        fixture.commands().revoke_agent_key(key.id).await.unwrap_err();
        assert!(fixture.control.0.agent_keys.find(&key.hash).is_some());
        fixture.commands().create_agent_key(new("other")).await.unwrap_err();
        assert_eq!(fixture.control.agent_keys().len(), 1);
    }

    #[tokio::test]
    async fn last_use_is_stored_once() {
        let fixture = Fixture::start().await;
        let (key, _) = fixture.commands().create_agent_key(new("bot")).await.unwrap();
        let at = Timestamp::from_millis(1_705_314_660_000);
        fixture.control.0.agent_keys.find(&key.hash).unwrap().note_use(at);
        fixture.control.store_key_uses().await;
        assert_eq!(fixture.store.agent_keys().await.unwrap()[0].last_used_at, Some(at));
        assert!(fixture.control.0.agent_keys.unstored_uses().is_empty());
    }

    #[tokio::test]
    async fn bad_fields_are_named() {
        let fixture = Fixture::start().await;
        let past = Some(Timestamp::from_millis(1));
        for (new, expected) in [
            (NewAgentKey { expires_at: past, ..new("bot") }, "expires_at"),
            (NewAgentKey { name: Some(" ".to_owned()), ..new("bot") }, "name"),
            (NewAgentKey { name: Some("agk_x".to_owned()), ..new("bot") }, "name"),
        ] {
            let refused = fixture.commands().create_agent_key(new).await;
            assert!(matches!(&refused, Err(ControlError::Field { field, .. }) if field == expected), "{refused:?}");
        }
    }
}
