//! Parses the results of the functions.

use model::shared_log::{LogEntry, LogPart, LogRecord, ReplicaId};
use model::{AgentId, CallId, Epoch, IncidentId, Timestamp};
use sqlx::Row;
use sqlx::postgres::PgRow;
use uuid::Uuid;

use crate::types::{Admitted, AgentStatus, Charge, ChargeKind, Expired, Grant, Killed, ShareError};

pub(super) fn read_admitted(row: &PgRow) -> Result<Admitted, ShareError> {
    let epoch = || Ok::<_, sqlx::Error>(Epoch(unsigned(row.try_get("o_epoch")?)));
    match row.try_get::<&str, _>("o_status")? {
        "granted" => Ok(Admitted::Granted(Grant {
            log: read_log(row, epoch()?)?,
            settings: unsigned(row.try_get("o_settings")?),
            access: row.try_get::<Option<i64>, _>("access")?.map(unsigned).unwrap_or_default(),
            spent: read_spent(row)?,
        })),
        "epoch" => Ok(Admitted::Epoch(epoch()?)),
        "killed" => Ok(read_killed(row)?.map_or(Admitted::Unknown, Admitted::Killed)),
        "rate" => Ok(Admitted::RateLimited {
            charge: unsigned(row.try_get("o_charge")?) as usize,
            wait_seconds: unsigned(row.try_get("o_wait")?),
        }),
        "budget" => Ok(Admitted::OverBudget(read_spent(row)?)),
        _ => Ok(Admitted::Unknown),
    }
}

pub(super) fn read_whole_log(row: &PgRow) -> Result<LogPart, sqlx::Error> {
    read_log(row, Epoch(unsigned(row.try_get("o_epoch")?)))
}

fn read_log(row: &PgRow, epoch: Epoch) -> Result<LogPart, sqlx::Error> {
    let numbers = |column| Ok::<_, sqlx::Error>(row.try_get::<Option<Vec<i64>>, _>(column)?.unwrap_or_default());
    let records: Vec<Vec<u8>> = row.try_get::<Option<_>, _>("o_records")?.unwrap_or_default();
    let places = numbers("o_seqs")?.into_iter().zip(numbers("o_numbers")?).zip(numbers("o_ats")?);
    let entry = |(((position, number), at), record): (((i64, i64), i64), Vec<u8>)| LogEntry {
        position: unsigned(position),
        number: unsigned(number),
        at: Timestamp::from_millis(at),
        record: LogRecord::decode(&record),
    };
    Ok(LogPart {
        epoch,
        floor: unsigned(row.try_get("o_floor")?),
        is_trimmed: row.try_get("o_trimmed")?,
        entries: places.zip(records).map(entry).collect(),
    })
}

fn read_spent(row: &PgRow) -> Result<Vec<(u64, u64)>, sqlx::Error> {
    let (spent, reserved): (Vec<i64>, Vec<i64>) = (row.try_get("o_spent")?, row.try_get("o_reserved")?);
    Ok(spent.into_iter().map(unsigned).zip(reserved.into_iter().map(unsigned)).collect())
}

pub(super) fn read_killed(row: &PgRow) -> Result<Option<Killed>, ShareError> {
    let killed = row.try_get::<Option<&[u8]>, _>("o_killed")?.map(read_id);
    let at: Option<i64> = row.try_get("o_killed_at")?;
    let killed = killed.map(|killed| Killed {
        incident: (!killed.is_nil()).then_some(IncidentId(killed)),
        at: Timestamp::from_millis(at.unwrap_or_default()),
    });
    Ok(killed)
}

pub(super) fn read_status(row: &PgRow) -> Result<Option<AgentStatus>, ShareError> {
    let Ok(agent) = AgentId::parse(row.try_get("agent")?) else { return Ok(None) };
    let (epoch, settings) = (Epoch(unsigned(row.try_get("epoch")?)), unsigned(row.try_get("settings")?));
    Ok(Some(AgentStatus { agent, epoch, killed: read_killed(row)?, settings }))
}

pub(super) fn read_expired(row: &PgRow) -> Result<Option<Expired>, ShareError> {
    let Ok(agent) = AgentId::parse(row.try_get("agent")?) else { return Ok(None) };
    let (scopes, kinds): (Vec<String>, Vec<i16>) = (row.try_get("scopes")?, row.try_get("kinds")?);
    let amounts: Vec<i64> = row.try_get("amounts")?;
    let charge = |((scope, kind), amount): ((String, i16), i64)| Charge {
        scope,
        kind: ChargeKind::from_code(kind.into()),
        limit: 0,
        amount: unsigned(amount),
        known: 0,
    };
    Ok(Some(Expired {
        agent,
        epoch: Epoch(unsigned(row.try_get("epoch")?)),
        call: CallId(read_id(row.try_get("call")?)),
        replica: ReplicaId(read_id(row.try_get("replica")?)),
        charges: scopes.into_iter().zip(kinds).zip(amounts).map(charge).collect(),
    }))
}

fn read_id(bytes: &[u8]) -> Uuid {
    Uuid::from_slice(bytes).unwrap_or_default()
}

pub(super) fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}
