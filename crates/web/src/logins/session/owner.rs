//! The owner of a session.

use serde::{Deserialize, Serialize};

pub(super) const LIFE_SECONDS: i64 = 7 * 24 * 60 * 60;
/// Shorter, because only a login shows that the provider no longer knows a person.
const FEDERATED_LIFE_SECONDS: i64 = 12 * 60 * 60;

/// The owner of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The holder of the token of the first start.
    FirstToken,
    /// A user, as of this version: a later one has ended it.
    User { id: String, version: u64 },
    /// A person who has logged in at an identity provider.
    Federated(FederatedPerson),
}

/// A person known to an identity provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FederatedPerson {
    /// The provider: a session ends when another one is configured.
    pub(crate) issuer: String,
    /// The provider's id of the person.
    pub(crate) subject: String,
    pub(crate) name: String,
    /// Groups of the person that have a role. What they may do is looked up with each request.
    pub(crate) groups: Vec<String>,
}

impl Owner {
    /// The id of the person in the audit log.
    pub(crate) fn id(&self) -> Option<String> {
        match self {
            Owner::FirstToken => None,
            Owner::User { id, .. } => Some(id.clone()),
            Owner::Federated(person) => Some(person.id()),
        }
    }

    pub(super) fn life_seconds(&self) -> i64 {
        if matches!(self, Owner::Federated(_)) { FEDERATED_LIFE_SECONDS } else { LIFE_SECONDS }
    }
}

impl FederatedPerson {
    /// The person's id in the audit log. Ids of users have no colon.
    pub(crate) fn id(&self) -> String {
        format!("oidc:{}", self.subject)
    }
}
