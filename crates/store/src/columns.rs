//! Values of the model as columns. An unknown word reads as the safest value it can have, because
//! one such row must not hide a whole list.

use model::{
    Action, AgentId, Counting, DeactivatedBy, Deactivation, Epoch, IncidentId, KillSwitch, Score, SignalCounts,
    Timestamp, WindowKind,
};

use crate::database::Row;

/// The prefix of a token's subject in the column of key ids. No key id begins with it.
pub(crate) const TOKEN_PREFIX: &str = "jwt:";

/// An unsigned number in a signed column.
pub(crate) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A signed column as the unsigned number it holds.
pub(crate) fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

/// The smallest id that an event at this time can have: a UUIDv7 begins with the milliseconds.
pub(crate) fn first_id(time: Timestamp) -> String {
    let digits = format!("{:012x}", time.as_millis().max(0));
    format!("{}-{}-0000-0000-000000000000", &digits[..8], &digits[8..])
}

/// An error for an invalid value in a column.
pub(crate) fn invalid(column: &'static str) -> sqlx::Error {
    sqlx::Error::ColumnDecode { index: column.to_owned(), source: "an unexpected value".into() }
}

pub(crate) fn agent_id(row: &Row, column: &'static str) -> Result<AgentId, sqlx::Error> {
    AgentId::parse(row.try_get(column)?).map_err(|_| invalid(column))
}

pub(crate) fn incident_id(row: &Row, column: &'static str) -> Result<Option<IncidentId>, sqlx::Error> {
    let text: Option<&str> = row.try_get(column)?;
    text.map(|text| IncidentId::parse(text).ok_or_else(|| invalid(column))).transpose()
}

pub(crate) fn timestamp(row: &Row, column: &str) -> Result<Timestamp, sqlx::Error> {
    row.try_get(column).map(Timestamp::from_millis)
}

pub(crate) fn maybe_timestamp(row: &Row, column: &str) -> Result<Option<Timestamp>, sqlx::Error> {
    let millis: Option<i64> = row.try_get(column)?;
    Ok(millis.map(Timestamp::from_millis))
}

pub(crate) fn epoch(row: &Row) -> Result<Epoch, sqlx::Error> {
    row.try_get("epoch").map(|number| Epoch(unsigned(number)))
}

/// The five settings, stored in agents and incidents alike.
pub(crate) fn kill_switch(row: &Row) -> Result<KillSwitch, sqlx::Error> {
    Ok(KillSwitch {
        enabled: row.try_get("enabled")?,
        window_size: row.try_get("window_size")?,
        threshold: row.try_get("threshold")?,
        action: Action::parse(row.try_get("action")?).unwrap_or(Action::Deactivate),
        counting: Counting::parse(row.try_get("counting")?).unwrap_or(Counting::Adaptive),
    })
}

/// Why an agent is inactive, if it is.
pub(crate) fn deactivation(row: &Row) -> Result<Option<Deactivation>, sqlx::Error> {
    if row.try_get("active")? {
        return Ok(None);
    }
    let by: Option<&str> = row.try_get("deactivated_by")?;
    Ok(Some(Deactivation {
        by: by.and_then(DeactivatedBy::parse).unwrap_or(DeactivatedBy::Manual),
        at: maybe_timestamp(row, "deactivated_at")?.unwrap_or_default(),
        incident: incident_id(row, "incident_id")?,
    }))
}

/// A score, stored in events and incidents alike.
pub(crate) fn score(row: &Row) -> Result<Option<Score>, sqlx::Error> {
    let Some(value) = row.try_get("score")? else { return Ok(None) };
    Ok(Some(Score {
        value,
        signals: SignalCounts {
            similar_prompts: row.try_get("similar_prompts")?,
            similar_responses: row.try_get("similar_responses")?,
            repeated_tool_calls: row.try_get("repeated_tool_calls")?,
        },
        window: WindowKind::parse(row.try_get("score_window")?).unwrap_or_default(),
    }))
}
