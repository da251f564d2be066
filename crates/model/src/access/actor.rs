//! Actors: who makes a request, and what they may do.

use std::cmp::Ordering;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::{ActivatedBy, FieldError, Group};

/// A role. Each includes the rights of the one before it.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    strum::EnumString,
    strum::IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Role {
    /// Sees everything but bodies: no prompts, no responses, no evidence.
    Viewer,
    /// Also sees bodies, stops and activates agents, exempts false alarms and gives feedback.
    Operator,
    /// Also changes settings, providers, channels, rules, keys and people.
    Admin,
}

impl Role {
    /// All roles, the weakest first.
    pub const ALL: [Role; 3] = [Role::Viewer, Role::Operator, Role::Admin];

    /// Its name in SQL, API and docs.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Parses its name.
    pub fn parse(word: &str) -> Option<Role> {
        word.parse().ok()
    }
}

/// A role, and the agents it applies to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// The role.
    pub role: Role,
    /// The groups of agents that an operator is limited to; for other agents the operator is a
    /// viewer. `None` for all agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<Vec<String>>,
}

impl Grant {
    /// The most groups that one grant may name.
    pub const MOST_GROUPS: usize = 50;

    /// `role` for all agents.
    pub fn everywhere(role: Role) -> Grant {
        Grant { role, groups: None }
    }

    /// Checks the groups.
    pub fn check(&self) -> Result<(), FieldError> {
        let Some(groups) = &self.groups else { return Ok(()) };
        if self.role != Role::Operator {
            return Err(FieldError::new("groups", "must be absent: only the role operator can be limited to groups"));
        }
        if groups.is_empty() || groups.len() > Grant::MOST_GROUPS {
            let message = format!("must have 1 to {} names of groups, or be absent", Grant::MOST_GROUPS);
            return Err(FieldError::new("groups", message));
        }
        groups
            .iter()
            .try_for_each(|name| Group::check_name(name).map_err(|error| FieldError::new("groups", error.message)))
    }

    /// The strongest of several: the highest role, for the agents of all grants with that role.
    pub fn strongest(grants: impl IntoIterator<Item = Grant>) -> Option<Grant> {
        grants.into_iter().reduce(|one, other| match one.role.cmp(&other.role) {
            Ordering::Greater => one,
            Ordering::Less => other,
            Ordering::Equal => {
                let both = one.groups.zip(other.groups).map(|(one, other)| one.into_iter().chain(other).collect());
                Grant { role: one.role, groups: both }
            }
        })
    }
}

/// How an actor was authenticated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, strum::EnumString, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum ActorKind {
    /// A user with a session.
    User,
    /// A program with an API token.
    Token,
    /// The token of the first start, in a session or by a program.
    FirstToken,
    /// Our own command line with the token of the first start.
    CommandLine,
    /// Not authenticated: a failed login.
    Anonymous,
}

impl ActorKind {
    /// All kinds.
    pub const ALL: [ActorKind; 5] =
        [ActorKind::User, ActorKind::Token, ActorKind::FirstToken, ActorKind::CommandLine, ActorKind::Anonymous];

    /// Its name in SQL, API and docs.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Parses its name.
    pub fn parse(word: &str) -> Option<ActorKind> {
        word.parse().ok()
    }
}

/// The actor of a request. It is determined once per request, and every command takes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actor {
    /// How the actor was authenticated.
    pub kind: ActorKind,
    /// The id of the user or of the API token.
    pub id: Option<String>,
    /// The name of the user or of the API token, for display.
    pub name: String,
    /// The role.
    pub role: Role,
    /// The groups of agents that an operator is limited to; `None` for all agents.
    pub groups: Option<Vec<String>>,
    /// The address that the request comes from.
    pub address: Option<IpAddr>,
    /// The interface that the request uses.
    pub via: ActivatedBy,
}

impl Actor {
    /// The holder of the token of the first start, who is an admin.
    pub fn first_token(via: ActivatedBy, address: Option<IpAddr>) -> Actor {
        let kind = if via == ActivatedBy::CommandLine { ActorKind::CommandLine } else { ActorKind::FirstToken };
        Actor { kind, id: None, name: "first token".to_owned(), role: Role::Admin, groups: None, address, via }
    }

    /// A failed login: it has no rights.
    pub fn anonymous(via: ActivatedBy, address: Option<IpAddr>) -> Actor {
        let name = "unknown".to_owned();
        Actor { kind: ActorKind::Anonymous, id: None, name, role: Role::Viewer, groups: None, address, via }
    }

    /// The role; `None` if the actor is anonymous.
    pub fn known_role(&self) -> Option<Role> {
        (self.kind != ActorKind::Anonymous).then_some(self.role)
    }

    /// Whether the actor has at least `role`.
    pub fn may(&self, role: Role) -> bool {
        self.known_role() >= Some(role)
    }
}

/// The actor and the reason of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The actor.
    pub actor: Actor,
    /// The reason, in the actor's own words.
    pub reason: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strongest_grant_joins_the_groups_of_all_grants_with_the_highest_role() {
        let of =
            |role, groups: &[&str]| Grant { role, groups: Some(groups.iter().map(|it| (*it).to_owned()).collect()) };
        let all = Grant::everywhere;
        let strongest = |grants: &[Grant]| Grant::strongest(grants.iter().cloned());
        assert_eq!(strongest(&[]), None);
        let (a, b) = (of(Role::Operator, &["a"]), of(Role::Operator, &["b"]));
        assert_eq!(strongest(&[a.clone(), b.clone()]), Some(of(Role::Operator, &["a", "b"])));
        assert_eq!(strongest(&[all(Role::Viewer), a.clone()]), Some(a.clone()));
        assert_eq!(strongest(&[a.clone(), all(Role::Operator)]), Some(all(Role::Operator)));
        assert_eq!(strongest(&[a, all(Role::Admin), b]), Some(all(Role::Admin)));
        let limited_admin = of(Role::Admin, &["a"]).check().map_err(|error| error.field);
        assert_eq!(limited_admin, Err("groups"));
        assert!(of(Role::Operator, &[]).check().is_err() && of(Role::Operator, &["a/b"]).check().is_err());
    }

    #[test]
    fn each_role_includes_the_rights_of_the_weaker_ones() {
        let actor = |role| Actor { role, ..Actor::first_token(ActivatedBy::Api, None) };
        assert!(actor(Role::Admin).may(Role::Viewer) && actor(Role::Operator).may(Role::Operator));
        assert!(!actor(Role::Viewer).may(Role::Operator) && !actor(Role::Operator).may(Role::Admin));
        for role in Role::ALL {
            assert_eq!(Role::parse(role.as_str()), Some(role));
        }
        for kind in ActorKind::ALL {
            assert_eq!(ActorKind::parse(kind.as_str()), Some(kind));
        }
    }
}
