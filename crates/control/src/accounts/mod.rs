//! Users and API tokens in memory, and the hashing of passwords.

mod password;

use std::collections::HashMap;

use parking_lot::{Mutex, RwLock};
use store::{ApiTokenRow, PeopleVersion, UserRow};

use self::password::Hashing;

/// The current users and tokens. They are few and needed for every request.
#[derive(Debug, Default)]
pub(crate) struct Accounts {
    pub(crate) users: RwLock<HashMap<String, UserRow>>,
    /// By their hash.
    pub(crate) tokens: RwLock<HashMap<String, ApiTokenRow>>,
    /// The version of both that was read last.
    pub(crate) version: Mutex<Option<PeopleVersion>>,
    pub(crate) hashing: Hashing,
}
