//! The state of logins: open sessions, limits on guesses, and failed logins for the audit log.

mod failed_logins;
mod guess_limit;
mod session;

pub(crate) use failed_logins::{FailedLogin, FailedLogins};
pub(crate) use guess_limit::{AccountLimit, GuessLimit};
pub use session::SessionStorage;
pub(crate) use session::{COOKIE_NAME, FederatedPerson, Owner, Session, Sessions, clear_cookie, set_cookie};
