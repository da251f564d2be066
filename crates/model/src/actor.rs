//! Who does something: a person or a program, with what it may do.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::ActivatedBy;

/// What somebody may do. Each role may do all that the one before it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Looks at everything but bodies: no prompts, no responses, no evidence.
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
        match self {
            Role::Viewer => "viewer",
            Role::Operator => "operator",
            Role::Admin => "admin",
        }
    }

    /// Reads the name.
    pub fn parse(word: &str) -> Option<Role> {
        Role::ALL.into_iter().find(|role| role.as_str() == word)
    }
}

/// How somebody has shown who they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActorKind {
    /// A user, in a session.
    User,
    /// A program with an API token.
    Token,
    /// Whoever holds the token of the first start, in a session or as a program.
    FirstToken,
    /// Our own command line with the token of the first start.
    CommandLine,
    /// A link that is good for one action.
    Link,
}

impl ActorKind {
    /// All kinds.
    pub const ALL: [ActorKind; 5] =
        [ActorKind::User, ActorKind::Token, ActorKind::FirstToken, ActorKind::CommandLine, ActorKind::Link];

    /// Its name in SQL, API and docs.
    pub fn as_str(self) -> &'static str {
        match self {
            ActorKind::User => "user",
            ActorKind::Token => "token",
            ActorKind::FirstToken => "first_token",
            ActorKind::CommandLine => "command_line",
            ActorKind::Link => "link",
        }
    }

    /// Reads the name.
    pub fn parse(word: &str) -> Option<ActorKind> {
        ActorKind::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

/// Who makes a request. It is found once per request, and every command takes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actor {
    /// How they have shown who they are.
    pub kind: ActorKind,
    /// The id of the user or of the API token.
    pub id: Option<String>,
    /// The name of the user or of the API token, for people.
    pub name: String,
    /// What they may do.
    pub role: Role,
    /// Where the request comes from.
    pub address: Option<IpAddr>,
    /// The way it came.
    pub via: ActivatedBy,
}

impl Actor {
    /// Whoever holds the token of the first start, which may do everything.
    pub fn first_token(via: ActivatedBy, address: Option<IpAddr>) -> Actor {
        let kind = if via == ActivatedBy::CommandLine { ActorKind::CommandLine } else { ActorKind::FirstToken };
        Actor { kind, id: None, name: "first token".to_owned(), role: Role::Admin, address, via }
    }

    /// Whether they may do what `role` may.
    pub fn may(&self, role: Role) -> bool {
        self.role >= role
    }
}

/// Who gave a command, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// Who.
    pub actor: Actor,
    /// Why, in their own words.
    pub reason: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_role_may_do_what_the_one_before_it_may() {
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
