//! Several servers on one database: which of them may write, what they tell each other, and which
//! of them does the work that only one may do.

mod claim;
mod feed;
mod key_check;
mod leases;
mod locks;

pub use self::claim::WriterClaim;
pub(crate) use self::claim::WriterName;
pub(super) use self::claim::claim;
pub use self::feed::ChangeFeed;
pub(crate) use self::feed::{announce, sweep_changes};
pub(crate) use self::key_check::check_key;
pub(crate) use self::leases::{claim as claim_work, lease_deliveries};
pub(crate) use self::locks::{Lock, lock, lock_shared, try_lock};
