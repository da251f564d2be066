//! Groups of agents: what they share, and what new agents of a group start with.

use std::sync::Arc;

use arc_swap::ArcSwap;

use crate::{AgentId, AgentPattern, FieldError, KillSwitch, KillSwitchChange, Policy};

/// A group of agents.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    /// Its name: `1..=64` characters of `A-Z a-z 0-9 . _ -`, the first one alphanumeric.
    pub name: String,
    /// Its agents, by name or pattern.
    pub agents: Vec<AgentPattern>,
    /// What its agents share: budgets, rates and hours of all of them together.
    pub policy: Policy,
    /// What new agents of the group have other than the defaults.
    pub kill_switch: KillSwitchChange,
}

impl Group {
    /// How many groups there may be: every call looks through them.
    pub const MOST: usize = 200;
    /// How many names and patterns a group may have.
    pub const MOST_PATTERNS: usize = 100;

    /// Checks a name.
    pub fn check_name(name: &str) -> Result<(), FieldError> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        let starts_well = name.bytes().next().is_some_and(|first| first.is_ascii_alphanumeric());
        if starts_well && name.len() <= 64 && name.bytes().all(allowed) {
            return Ok(());
        }
        Err(FieldError::new(
            "name",
            "must have 1 to 64 characters of A-Z a-z 0-9 . _ - and start with a letter or digit",
        ))
    }

    /// Checks what a group takes beside its name.
    pub fn check(&self) -> Result<(), FieldError> {
        Group::check_name(&self.name)?;
        if self.agents.is_empty() || self.agents.len() > Group::MOST_PATTERNS {
            let message = format!("must have 1 to {} names or patterns", Group::MOST_PATTERNS);
            return Err(FieldError::new("agents", message));
        }
        // Both are about one agent: a conversation is one agent's, and two agents may ask for one model.
        if self.policy.budget_conversation.is_some() {
            return Err(FieldError::new(
                "budget_conversation_usd",
                "must be in the policy of an agent, not of a group",
            ));
        }
        if !self.policy.model_overrides.is_empty() {
            return Err(FieldError::new("model_overrides", "must be in the policy of an agent, not of a group"));
        }
        self.kill_switch.apply(KillSwitch::default()).map(drop)
    }

    /// Whether `agent` is in it.
    pub fn includes(&self, agent: &AgentId) -> bool {
        self.agents.iter().any(|pattern| pattern.matches(agent))
    }
}

/// The groups that are known right now, by name. Clones are the same ones.
#[derive(Clone, Debug, Default)]
pub struct Groups(Arc<ArcSwap<Vec<Arc<Group>>>>);

impl Groups {
    /// These groups.
    pub fn new(groups: impl IntoIterator<Item = Group>) -> Groups {
        let book = Groups::default();
        groups.into_iter().for_each(|group| book.put(group));
        book
    }

    /// The group with this name.
    pub fn get(&self, name: &str) -> Option<Arc<Group>> {
        self.0.load().iter().find(|group| group.name == name).cloned()
    }

    /// All groups, by name.
    pub fn all(&self) -> Vec<Arc<Group>> {
        self.0.load().to_vec()
    }

    /// Adds a group or replaces the one with its name.
    pub fn put(&self, group: Group) {
        let group = Arc::new(group);
        self.0.rcu(|groups| {
            let others = groups.iter().filter(|other| other.name != group.name);
            let mut groups: Vec<_> = others.chain([&group]).cloned().collect();
            groups.sort_unstable_by(|one, other| one.name.cmp(&other.name));
            groups
        });
    }

    /// Removes a group.
    pub fn remove(&self, name: &str) {
        self.0.rcu(|groups| groups.iter().filter(|group| group.name != name).cloned().collect::<Vec<_>>());
    }

    /// What `agent` starts with, if agents without a group start with `defaults`. Of several groups
    /// the last by name decides.
    pub fn kill_switch(&self, agent: &AgentId, defaults: KillSwitch) -> KillSwitch {
        let groups = self.0.load();
        let of_agent = groups.iter().filter(|group| group.includes(agent));
        of_agent.fold(defaults, |settings, group| group.kill_switch.apply(settings).unwrap_or(settings))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may")]
mod tests {
    use super::*;

    fn group(name: &str, agents: &[&str]) -> Group {
        let agents = agents.iter().map(|pattern| AgentPattern::parse(pattern).unwrap()).collect();
        Group { name: name.to_owned(), agents, ..Group::default() }
    }

    #[test]
    fn agents_start_as_their_group_says() {
        let on = KillSwitchChange { enabled: Some(true), ..KillSwitchChange::default() };
        let groups = Groups::new([Group { kill_switch: on, ..group("a", &["team-a/*", "x"]) }, group("b", &["*"])]);
        let enabled = |agent: &str| groups.kill_switch(&AgentId::parse(agent).unwrap(), KillSwitch::default()).enabled;
        assert_eq!(["x", "team-a:bot", "team-b:bot"].map(enabled), [true, true, false]);
        groups.remove("a");
        assert!(!enabled("x") && groups.get("a").is_none() && groups.all().len() == 1);
    }

    #[test]
    fn bad_groups_name_the_field() {
        let field = |group: Group| group.check().err().map(|error| error.field);
        assert_eq!(field(group("a", &["x"])), None);
        assert_eq!(field(group("a/b", &["x"])), Some("name"));
        assert_eq!(field(group("a", &[])), Some("agents"));
        let policy = Policy { budget_conversation: Some(crate::NanoUsd::new(1)), ..Policy::default() };
        assert_eq!(field(Group { policy, ..group("a", &["x"]) }), Some("budget_conversation_usd"));
        let kill_switch = KillSwitchChange { window_size: Some(1), ..KillSwitchChange::default() };
        assert_eq!(field(Group { kill_switch, ..group("a", &["x"]) }), Some("window_size"));
    }
}
