//! Parses the results of the scripts.

use model::shared_log::{LogEntry, LogPart, LogRecord, ReplicaId};
use model::{AgentId, CallId, Epoch, IncidentId, Timestamp};
use redis::{FromRedisValue, Value};
use uuid::Uuid;

use crate::types::{Admitted, AgentStatus, Charge, ChargeKind, Expired, Grant, Killed, ShareError, Takeover};

pub(super) fn read_admitted(answer: Vec<Value>) -> Result<Admitted, ShareError> {
    let mut values = answer.into_iter();
    let status: String = next(&mut values)?;
    Ok(match status.as_str() {
        "granted" => {
            let epoch = Epoch(next(&mut values)?);
            let settings = next::<Option<u64>>(&mut values)?.unwrap_or_default();
            let floor = next(&mut values)?;
            let is_trimmed = next::<Option<String>>(&mut values)?.is_some();
            let spent = read_spent(next(&mut values)?);
            let entries = read_entries(&mut values)?;
            let access = next::<Option<u64>>(&mut values)?.unwrap_or_default();
            Admitted::Granted(Grant { log: LogPart { epoch, floor, is_trimmed, entries }, settings, access, spent })
        }
        "epoch" => Admitted::Epoch(Epoch(next(&mut values)?)),
        "killed" => {
            let killed = [next(&mut values)?, next(&mut values)?];
            read_killed(&killed).map_or(Admitted::Unknown, Admitted::Killed)
        }
        "rate" => Admitted::RateLimited { charge: next(&mut values)?, wait_seconds: next(&mut values)? },
        "budget" => Admitted::OverBudget(read_spent(next(&mut values)?)),
        _ => Admitted::Unknown,
    })
}

/// The whole log of an agent; `None` if the engine does not know the agent.
pub(super) fn read_log(answer: Vec<Value>) -> Result<Option<LogPart>, ShareError> {
    if answer.is_empty() {
        return Ok(None);
    }
    let mut values = answer.into_iter();
    let (epoch, floor) = (Epoch(next(&mut values)?), next(&mut values)?);
    let is_trimmed = next::<Option<String>>(&mut values)?.is_some();
    Ok(Some(LogPart { epoch, floor, is_trimmed, entries: read_entries(&mut values)? }))
}

fn read_entries(values: &mut impl Iterator<Item = Value>) -> Result<Vec<LogEntry>, ShareError> {
    let entries: Vec<(String, Vec<Value>)> = next(values)?;
    Ok(entries.into_iter().filter_map(read_entry).collect())
}

fn next<T: FromRedisValue>(values: &mut impl Iterator<Item = Value>) -> Result<T, ShareError> {
    let value = values.next().unwrap_or(Value::Nil);
    redis::from_redis_value(value).map_err(|error| ShareError::Valkey(error.into()))
}

fn read_spent(numbers: Vec<u64>) -> Vec<(u64, u64)> {
    numbers.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect()
}

/// An entry of the stream: `position-1`, and `n number t time r record`.
fn read_entry((id, fields): (String, Vec<Value>)) -> Option<LogEntry> {
    let [_, number, _, at, _, record] = <[Value; 6]>::try_from(fields).ok()?;
    let record: Vec<u8> = redis::from_redis_value(record).ok()?;
    Some(LogEntry {
        position: id.split('-').next()?.parse().ok()?,
        number: redis::from_redis_value(number).ok()?,
        at: Timestamp::from_millis(redis::from_redis_value(at).ok()?),
        record: LogRecord::decode(&record),
    })
}

/// The incident, or zeros for a deactivation by hand, and the time.
pub(super) fn read_killed(answer: &[String]) -> Option<Killed> {
    let incident = Uuid::try_parse(answer.first()?).ok()?;
    let at = Timestamp::from_millis(answer.get(1)?.parse().ok()?);
    Some(Killed { incident: (!incident.is_nil()).then_some(IncidentId(incident)), at })
}

pub(super) fn read_takeover(answer: &[String]) -> Takeover {
    let epoch = || answer.get(1)?.parse().ok().map(Epoch);
    match answer.first().map(String::as_str) {
        Some("won") => Takeover::Won,
        Some("epoch") => epoch().map_or(Takeover::Unknown, Takeover::Epoch),
        Some("lost") => read_killed(&answer[1..]).map_or(Takeover::Unknown, Takeover::Lost),
        _ => Takeover::Unknown,
    }
}

pub(super) fn read_status(agent: &AgentId, fields: Vec<Option<String>>) -> Option<AgentStatus> {
    let [epoch, incident, at, settings] = <[Option<String>; 4]>::try_from(fields).ok()?;
    let killed = incident.zip(at).and_then(|(incident, at)| read_killed(&[incident, at]));
    let settings = settings.and_then(|settings| settings.parse().ok()).unwrap_or_default();
    Some(AgentStatus { agent: agent.clone(), epoch: Epoch(epoch?.parse().ok()?), killed, settings })
}

/// Parses a ticket: lines with epoch, replica and second, then a line `kind amount scope` for each
/// charge.
pub(super) fn read_expired(replica: ReplicaId, agent: AgentId, call: &str, ticket: &str) -> Option<Expired> {
    let mut lines = ticket.lines();
    let epoch = Epoch(lines.next()?.parse().ok()?);
    let charge = |line: &str| {
        let mut words = line.splitn(3, ' ');
        let (kind, amount) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        let scope = words.next()?.to_owned();
        Some(Charge { scope, kind: ChargeKind::from_code(kind), limit: 0, amount, known: 0 })
    };
    let charges = lines.skip(2).filter_map(charge).collect();
    Some(Expired { agent, epoch, call: CallId::parse(call)?, replica, charges })
}
