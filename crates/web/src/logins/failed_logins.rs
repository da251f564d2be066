//! Failed logins in the audit log. The first of a kind is written at once, further ones of the same
//! minute as one row with their number, and no minute has more than a few rows: failed logins
//! cannot fill the disk.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Weak};
use std::time::Duration;

use control::Control;
use model::{ActivatedBy, Actor, Network};
use parking_lot::Mutex;
use serde_json::json;

const MINUTE: Duration = Duration::from_secs(60);
/// Kinds of failures that a minute has rows for; all others share one row.
const MAX_KINDS: usize = 10;

/// A failed login.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FailedLogin {
    /// The credential: `password`, `token` or `oidc`.
    pub(crate) how: &'static str,
    /// The reason of the refusal.
    pub(crate) why: &'static str,
    /// The account, if it exists. An unknown name may be a password in the wrong field, so it is
    /// not repeated.
    pub(crate) account: Option<String>,
}

/// Adds failed logins to the audit log.
pub(crate) struct FailedLogins(Arc<Inner>);

struct Inner {
    control: Control,
    minute: Mutex<Minute>,
}

/// The failures of the running minute.
#[derive(Default)]
struct Minute {
    is_running: bool,
    /// Failures by kind whose repetitions are not written yet. The first of each kind was written.
    kinds: HashMap<(FailedLogin, Network), Repeated>,
    /// Failures of kinds beyond the limit.
    others: u64,
}

#[derive(Clone, Copy)]
struct Repeated {
    count: u64,
    address: IpAddr,
}

/// How to handle a failure.
#[derive(Debug, PartialEq, Eq)]
struct Noted {
    /// Whether it is the first of its kind, which is written at once.
    is_first: bool,
    /// Whether the minute begins with it.
    begins_minute: bool,
}

impl Minute {
    fn note(&mut self, login: &FailedLogin, address: IpAddr) -> Noted {
        let begins_minute = !std::mem::replace(&mut self.is_running, true);
        let key = (login.clone(), Network::of(address));
        let is_full = self.kinds.len() >= MAX_KINDS;
        match self.kinds.get_mut(&key) {
            Some(repeated) => repeated.count += 1,
            None if is_full => self.others += 1,
            None => {
                self.kinds.insert(key, Repeated { count: 0, address });
                return Noted { is_first: true, begins_minute };
            }
        }
        Noted { is_first: false, begins_minute }
    }
}

impl FailedLogins {
    /// Writes the rows of the audit log through `control`.
    pub(crate) fn new(control: Control) -> FailedLogins {
        FailedLogins(Arc::new(Inner { control, minute: Mutex::default() }))
    }

    /// Adds a failed login from `address`, now or with the others of the minute.
    pub(crate) fn add(&self, address: IpAddr, login: &FailedLogin) {
        let noted = self.0.minute.lock().note(login, address);
        if noted.is_first {
            self.0.write(login, address, 1);
        }
        if noted.begins_minute {
            // Weak: a stopping server must not wait for the minute.
            tokio::spawn(end_minute(Arc::downgrade(&self.0)));
        }
    }
}

async fn end_minute(logins: Weak<Inner>) {
    tokio::time::sleep(MINUTE).await;
    let Some(logins) = logins.upgrade() else { return };
    let minute = std::mem::take(&mut *logins.minute.lock());
    for ((login, _), repeated) in minute.kinds {
        if repeated.count > 0 {
            logins.write(&login, repeated.address, repeated.count);
        }
    }
    if minute.others > 0 {
        let others = Actor::anonymous(ActivatedBy::Dashboard, None);
        let details = json!({"attempts": minute.others, "why": "many_kinds"});
        logins.control.by(&others).note_with("session.refuse", None, Some(details));
    }
}

impl Inner {
    fn write(&self, login: &FailedLogin, address: IpAddr, attempts: u64) {
        let actor = Actor::anonymous(ActivatedBy::Dashboard, Some(address));
        let details = json!({"how": login.how, "why": login.why, "attempts": attempts});
        self.control.by(&actor).note_with("session.refuse", login.account.clone(), Some(details));
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    fn login(account: &str) -> FailedLogin {
        FailedLogin { how: "password", why: "wrong", account: Some(account.to_owned()) }
    }

    #[test]
    fn repeated_failures_are_counted_and_kinds_are_bounded() {
        let (mut minute, address) = (Minute::default(), IpAddr::V4(Ipv4Addr::LOCALHOST));
        let noted = |is_first, begins_minute| Noted { is_first, begins_minute };
        assert_eq!(minute.note(&login("ann"), address), noted(true, true));
        assert_eq!(minute.note(&login("ann"), address), noted(false, false));
        for number in 1..MAX_KINDS {
            assert_eq!(minute.note(&login(&number.to_string()), address), noted(true, false));
        }
        for number in 0..1000 {
            assert_eq!(minute.note(&login(&format!("x{number}")), address), noted(false, false));
        }
        assert_eq!((minute.kinds.len(), minute.others), (MAX_KINDS, 1000));
        assert_eq!(minute.kinds.values().map(|repeated| repeated.count).sum::<u64>(), 1);
    }
}
