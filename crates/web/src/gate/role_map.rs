//! The roles of people that another system has logged in, by their groups there.

use model::{Grant, Role};

/// The roles of groups.
#[derive(Clone, Debug, Default)]
pub struct RoleMap {
    /// Each group with its role.
    pub groups: Vec<(String, Grant)>,
    /// The role of people without such a group; `None` gives them no access.
    pub otherwise: Option<Role>,
}

impl RoleMap {
    /// Whether no one gets a role.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty() && self.otherwise.is_none()
    }

    /// The strongest role of a person in `groups`.
    pub(crate) fn grant<'a>(&self, groups: impl IntoIterator<Item = &'a str>) -> Option<Grant> {
        let theirs: Vec<&str> = groups.into_iter().collect();
        let found = self.groups.iter().filter(|(group, _)| theirs.contains(&group.as_str()));
        Grant::strongest(found.map(|(_, grant)| grant.clone())).or(self.otherwise.map(Grant::everywhere))
    }

    /// The groups that have a role: only these are kept.
    pub(crate) fn known(&self, groups: Vec<String>) -> Vec<String> {
        groups.into_iter().filter(|group| self.groups.iter().any(|(known, _)| known == group)).collect()
    }
}
