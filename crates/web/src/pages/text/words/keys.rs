//! The words of the page of agent keys.

use model::KeyRefusal;

pub(in crate::pages) const DAY: &str = "must be a day such as 2026-12-24";

/// How many keys there are.
pub(in crate::pages) fn summary(count: usize) -> String {
    match count {
        0 => "No agent keys".to_owned(),
        1 => "1 agent key".to_owned(),
        count => format!("{count} agent keys"),
    }
}

/// Whether calls need a key.
pub(in crate::pages) fn explanation(is_required: bool) -> &'static str {
    if is_required {
        "Calls need an agent key. A client sends it in place of the provider's key and acts as the key's agent."
    } else {
        "Calls need no agent key at the moment. A client that sends one in place of the provider's key acts as the key's agent."
    }
}

/// Why calls were refused.
pub(in crate::pages) fn refusal(why: KeyRefusal) -> &'static str {
    match why {
        KeyRefusal::Missing => "without a key",
        KeyRefusal::Malformed => "with a key that was mistyped or cut",
        KeyRefusal::Unknown => "with a key that is revoked or never existed",
        KeyRefusal::Expired => "with a key that has expired",
        KeyRefusal::OtherAgent => "in the name of another agent",
        KeyRefusal::NoAgent => "with a key for several agents and no agent in the path",
        KeyRefusal::Several => "with two different keys",
        KeyRefusal::BadToken => "with a JSON Web Token that is not accepted",
    }
}

/// `2026-12-24 00:00 UTC`
pub(in crate::pages) fn minute(exact: &str) -> String {
    format!("{} UTC", exact.get(..16).unwrap_or(exact).replace('T', " "))
}
