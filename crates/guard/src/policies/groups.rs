//! The limits of groups: a policy that all agents of a group share. A call passes only if its
//! agent's policy and those of all its groups let it through, in one step.

use std::sync::Arc;

use model::{AgentId, Group, Spending, Timestamp};

use super::Policies;
use super::charge::Charge;
use super::limits::Limits;
use super::reservation::Reservation;

/// A group and what its agents have used together.
#[derive(Clone, Debug)]
pub struct GroupLimits {
    /// The group.
    pub group: Arc<Group>,
    /// Its limits.
    pub limits: Arc<Limits>,
}

impl Policies {
    /// The groups of an agent that limit anything, by name.
    pub fn groups_of(&self, agent: &AgentId) -> Vec<GroupLimits> {
        self.groups.load().iter().filter(|it| it.group.includes(agent)).cloned().collect()
    }

    /// The group with this name, if it limits anything.
    pub fn group(&self, name: &str) -> Option<GroupLimits> {
        self.groups.load().iter().find(|it| it.group.name == name).cloned()
    }

    /// Adds a group or changes the one with its name, from the next call on. `spending` is what its
    /// agents have spent so far; `None` if what is counted here is right.
    pub fn put_group(&self, group: Arc<Group>, spending: Option<&Spending>, now: Timestamp) {
        if group.policy.is_empty() {
            return self.remove_group(&group.name);
        }
        let policy = Arc::new(group.policy.clone());
        let known = self.group(&group.name).map(|known| known.limits);
        let limits = known.unwrap_or_else(|| Arc::new(Limits::new(Arc::clone(&policy), true, now)));
        limits.change(policy, spending, now);
        let added = GroupLimits { group, limits };
        self.groups.rcu(|groups| {
            let others = groups.iter().filter(|other| other.group.name != added.group.name);
            let mut groups: Vec<_> = others.chain([&added]).cloned().collect();
            groups.sort_unstable_by(|one, other| one.group.name.cmp(&other.group.name));
            groups
        });
    }

    /// Removes a group.
    pub fn remove_group(&self, name: &str) {
        self.groups.rcu(|groups| groups.iter().filter(|it| it.group.name != name).cloned().collect::<Vec<_>>());
    }

    /// Raises what a group has spent, as [`Policies::raise`] does for an agent.
    pub fn raise_group(&self, name: &str, spending: &Spending, now: Timestamp) {
        if let Some(group) = self.group(name) {
            group.limits.raise(spending, now);
        }
    }

    /// Replaces the reservations of a call in its groups by what it really took. Groups may have
    /// been added or removed meanwhile.
    pub fn settle_groups(&self, groups: &[GroupLimits], mut reserved: Vec<Reservation>, actual: &Charge) {
        for GroupLimits { limits, .. } in groups {
            match reserved.iter().position(|reservation| reservation.is_of(limits)) {
                Some(place) => reserved.swap_remove(place).settle(actual),
                None => limits.settle(None, actual),
            }
        }
    }
}
