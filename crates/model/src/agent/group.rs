//! Groups of agents: shared limits, and settings for new agents of the group.

use std::sync::Arc;

use arc_swap::ArcSwap;

use crate::{AgentId, AgentLabels, AgentPattern, FieldError, KillSwitch, KillSwitchChange, Label, Policy, Timestamp};

/// A group of agents.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    /// Its name: `1..=64` characters of `A-Z a-z 0-9 . _ -`, the first one alphanumeric.
    pub name: String,
    /// Its agents, by name or pattern.
    pub agents: Vec<AgentPattern>,
    /// Agents with one of these labels are in it, too.
    pub labels: Vec<Label>,
    /// The limits that its agents share: budgets, rates and hours of all of them together.
    pub policy: Policy,
    /// The settings of new agents that differ from the defaults.
    pub kill_switch: KillSwitchChange,
    /// When it was stopped. No agent of a stopped group may call, not even one that is not known
    /// yet.
    pub stopped_at: Option<Timestamp>,
    /// The labels of all agents. [`Groups`] sets them.
    pub agent_labels: AgentLabels,
}

impl Group {
    /// The most groups: every call checks them all.
    pub const MOST: usize = 200;
    /// The most names and patterns of a group.
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

    /// Checks everything but the name.
    pub fn check(&self) -> Result<(), FieldError> {
        Group::check_name(&self.name)?;
        if self.agents.len() > Group::MOST_PATTERNS || (self.agents.is_empty() && self.labels.is_empty()) {
            let message = format!("must have 1 to {} names or patterns, or none beside labels", Group::MOST_PATTERNS);
            return Err(FieldError::new("agents", message));
        }
        // Neither makes sense for several agents: a conversation belongs to one agent, and
        // different agents may need different models.
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
        self.agents.iter().any(|pattern| pattern.matches(agent)) || self.agent_labels.has_any(agent, &self.labels)
    }
}

/// The known groups, by name. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Groups(Arc<Book>);

#[derive(Debug, Default)]
struct Book {
    groups: ArcSwap<Vec<Arc<Group>>>,
    /// The stopped groups. Kept apart because every call checks them and there are hardly ever any.
    stopped: ArcSwap<Vec<Arc<Group>>>,
    labels: AgentLabels,
}

impl Groups {
    /// Creates a set of `groups`.
    pub fn new(groups: impl IntoIterator<Item = Group>) -> Groups {
        let book = Groups::default();
        groups.into_iter().for_each(|group| book.put(group));
        book
    }

    /// The labels of all agents.
    pub fn labels(&self) -> &AgentLabels {
        &self.0.labels
    }

    /// The group with this name.
    pub fn get(&self, name: &str) -> Option<Arc<Group>> {
        self.0.groups.load().iter().find(|group| group.name == name).cloned()
    }

    /// All groups, by name.
    pub fn all(&self) -> Vec<Arc<Group>> {
        self.0.groups.load().to_vec()
    }

    /// Adds a group or replaces the one with its name. The replacement is stopped if the replaced
    /// group was: only [`set_stopped`](Groups::set_stopped) changes that.
    pub fn put(&self, group: Group) {
        let group = Group { agent_labels: self.0.labels.clone(), ..group };
        self.change(|groups| {
            let known = groups.iter().find(|other| other.name == group.name);
            let stopped_at = known.map_or(group.stopped_at, |known| known.stopped_at);
            groups.retain(|other| other.name != group.name);
            groups.push(Arc::new(Group { stopped_at, ..group.clone() }));
            groups.sort_unstable_by(|one, other| one.name.cmp(&other.name));
        });
    }

    /// Stops a known group, or lets its agents call again.
    pub fn set_stopped(&self, name: &str, stopped_at: Option<Timestamp>) {
        self.change(|groups| {
            for group in groups.iter_mut().filter(|group| group.name == name) {
                *group = Arc::new(Group { stopped_at, ..Group::clone(group) });
            }
        });
    }

    /// Removes a group.
    pub fn remove(&self, name: &str) {
        self.change(|groups| groups.retain(|group| group.name != name));
    }

    fn change(&self, change: impl Fn(&mut Vec<Arc<Group>>)) {
        self.0.groups.rcu(|groups| {
            let mut groups = Vec::clone(groups);
            change(&mut groups);
            groups
        });
        // `rcu` may run this several times. Each run reads the groups again, so that an older list
        // cannot replace a newer one.
        self.0.stopped.rcu(|_| {
            let groups = self.0.groups.load();
            groups.iter().filter(|group| group.stopped_at.is_some()).cloned().collect::<Vec<_>>()
        });
    }

    /// The first stopped group that `agent` is in.
    pub fn stopped(&self, agent: &AgentId) -> Option<Arc<Group>> {
        self.0.stopped.load().iter().find(|group| group.includes(agent)).cloned()
    }

    /// The settings that `agent` starts with: those of its groups on top of `defaults`. If several
    /// groups set a field, the last group by name decides.
    pub fn kill_switch(&self, agent: &AgentId, defaults: KillSwitch) -> KillSwitch {
        let groups = self.0.groups.load();
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
    fn new_agents_get_the_settings_of_their_group() {
        let on = KillSwitchChange { enabled: Some(true), ..KillSwitchChange::default() };
        let groups = Groups::new([Group { kill_switch: on, ..group("a", &["team-a/*", "x"]) }, group("b", &["*"])]);
        let enabled = |agent: &str| groups.kill_switch(&AgentId::parse(agent).unwrap(), KillSwitch::default()).enabled;
        assert_eq!(["x", "team-a:bot", "team-b:bot"].map(enabled), [true, true, false]);
        groups.remove("a");
        assert!(!enabled("x") && groups.get("a").is_none() && groups.all().len() == 1);
    }

    #[test]
    fn labels_put_agents_into_a_group() {
        let production = Label::parse("production").unwrap();
        let groups = Groups::new([Group { labels: vec![production.clone()], ..group("live", &[]) }]);
        let (bot, live) = (AgentId::parse("bot").unwrap(), || groups.get("live").unwrap());
        assert!(live().check().is_ok() && !live().includes(&bot));
        groups.labels().set(&bot, vec![production]);
        assert!(live().includes(&bot) && !live().includes(&AgentId::parse("other").unwrap()));
    }

    #[test]
    fn stopped_group_holds_for_its_pattern_until_it_is_activated() {
        let groups = Groups::new([group("a", &["team-a/*"]), group("b", &["*"])]);
        let stopped = |agent: &str| groups.stopped(&AgentId::parse(agent).unwrap()).map(|group| group.name.clone());
        assert_eq!(stopped("team-a:new"), None);
        groups.set_stopped("a", Some(Timestamp::from_millis(1)));
        assert_eq!((stopped("team-a:new").as_deref(), stopped("other")), (Some("a"), None));
        groups.put(group("a", &["team-a/*", "other"]));
        assert_eq!(stopped("other").as_deref(), Some("a"), "a change does not lift it");
        groups.set_stopped("a", None);
        assert_eq!((stopped("team-a:new"), stopped("other")), (None, None));
        groups.set_stopped("b", Some(Timestamp::from_millis(1)));
        groups.remove("b");
        assert_eq!(stopped("other"), None);
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
