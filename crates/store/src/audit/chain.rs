//! The hash that ties a row to the one before it.

use std::fmt::Write;

use sha2::{Digest, Sha256};

use super::AuditRow;

/// The hash of `row` after a row with the hash `previous`, which is empty for the first one.
pub(super) fn hash(previous: &str, row: &AuditRow) -> String {
    let (number, at) = (row.number.to_string(), row.at.as_millis().to_string());
    let fields = [
        Some(previous),
        Some(&number),
        Some(&at),
        Some(row.actor_kind.as_str()),
        row.actor_id.as_deref(),
        Some(&row.actor_name),
        Some(super::role_word(row.role)),
        row.address.as_deref(),
        Some(row.via.as_str()),
        Some(&row.action),
        row.target.as_deref(),
        row.before.as_deref(),
        row.after.as_deref(),
        row.reason.as_deref(),
    ];
    let mut hasher = Sha256::new_with_prefix("agentgazer audit 1\0");
    for field in fields {
        // With its length, so that no two rows give the same bytes.
        hasher.update(field.map_or(u64::MAX, |text| text.len() as u64).to_le_bytes());
        hasher.update(field.unwrap_or_default());
    }
    hasher.finalize().iter().fold(String::with_capacity(64), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
