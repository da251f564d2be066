//! The log of one agent that replicas share: calls that arrived and ended, in one order. A record
//! is bytes that begin with its kind; the engine that keeps them does not read them.

use uuid::Uuid;

use crate::{
    CallId, ConversationId, Epoch, Fingerprint, IncidentId, Outcome, ResponsePrint, TextHash, Timestamp,
    fingerprint_bytes,
};

/// The kinds of records. A new layout takes a new number.
const ARRIVED: u8 = 1;
const ENDED: u8 = 2;
const RESTORED: u8 = 3;

const HAS_RESPONSE: u8 = 1;
const RESPONSE_IS_SHORT: u8 = 1 << 1;
/// The position of the four bits of the words around tool calls.
const REMARK: u32 = 4;

/// Identifies a process among the replicas. Every start has a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ReplicaId(pub Uuid);

impl ReplicaId {
    /// A new id.
    pub fn new() -> ReplicaId {
        ReplicaId(Uuid::now_v7())
    }
}

impl Default for ReplicaId {
    fn default() -> Self {
        ReplicaId::new()
    }
}

/// One record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LogRecord {
    /// A call arrived at a replica. Its number and time are those of its [`LogEntry`].
    Arrived(ReplicaId, Fingerprint),
    /// A call ended.
    Ended(EndedCall),
    /// A call from before the log began, or from a time without it. It is not scored.
    Restored(Fingerprint),
    /// Written by a newer version; it is skipped.
    Unknown,
}

/// The end of a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EndedCall {
    /// The call.
    pub call: CallId,
    /// Its conversation.
    pub conversation: ConversationId,
    /// Its outcome.
    pub outcome: Outcome,
    /// The response.
    pub response: Option<ResponsePrint>,
}

impl LogRecord {
    /// Encodes the record.
    pub fn encode(&self) -> Vec<u8> {
        match self {
            LogRecord::Arrived(ReplicaId(replica), print) => {
                [&[ARRIVED], replica.as_bytes().as_slice(), &fingerprint_bytes::encode(print)].concat()
            }
            LogRecord::Ended(ended) => ended.encode(),
            LogRecord::Restored(print) => [&[RESTORED], fingerprint_bytes::encode(print).as_slice()].concat(),
            LogRecord::Unknown => Vec::new(),
        }
    }

    /// Decodes a record.
    pub fn decode(bytes: &[u8]) -> LogRecord {
        let decoded = match bytes.split_first() {
            Some((&ARRIVED, rest)) => decode_arrived(rest),
            Some((&ENDED, rest)) => EndedCall::decode(rest).map(LogRecord::Ended),
            Some((&RESTORED, rest)) => fingerprint_bytes::decode(rest).map(LogRecord::Restored),
            _ => None,
        };
        decoded.unwrap_or(LogRecord::Unknown)
    }
}

fn decode_arrived(bytes: &[u8]) -> Option<LogRecord> {
    let (replica, rest) = bytes.split_first_chunk::<16>()?;
    Some(LogRecord::Arrived(ReplicaId(Uuid::from_bytes(*replica)), fingerprint_bytes::decode(rest)?))
}

impl EndedCall {
    fn encode(&self) -> Vec<u8> {
        let mut flags = 0;
        let mut hashes = Vec::new();
        if let Some(response) = self.response {
            let is_short = if response.is_short { RESPONSE_IS_SHORT } else { 0 };
            flags = HAS_RESPONSE | is_short | response.remark << REMARK;
            hashes = [response.literal.0, response.adaptive.0].map(u64::to_le_bytes).concat();
        }
        let head = [ENDED, self.outcome as u8, flags];
        [&head, self.call.0.as_bytes().as_slice(), &self.conversation.0.to_le_bytes(), &hashes].concat()
    }

    fn decode(bytes: &[u8]) -> Option<EndedCall> {
        let (&[outcome, flags], rest) = bytes.split_first_chunk::<2>()?;
        let (call, rest) = rest.split_first_chunk::<16>()?;
        let (conversation, rest) = rest.split_first_chunk::<8>()?;
        let response = match flags & HAS_RESPONSE {
            0 => None,
            _ => {
                let (literal, rest) = rest.split_first_chunk::<8>()?;
                let (adaptive, _) = rest.split_first_chunk::<8>()?;
                let hash = |bytes: &[u8; 8]| TextHash(u64::from_le_bytes(*bytes));
                let is_short = flags & RESPONSE_IS_SHORT != 0;
                let remark = flags >> REMARK;
                Some(ResponsePrint { literal: hash(literal), adaptive: hash(adaptive), is_short, remark })
            }
        };
        Some(EndedCall {
            call: CallId::from_bytes(*call),
            conversation: ConversationId(u64::from_le_bytes(*conversation)),
            outcome: Outcome::from_repr(outcome)?,
            response,
        })
    }
}

/// A record with its position in the log.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogEntry {
    /// Its position: one more than that of the record before.
    pub position: u64,
    /// The number of the call, for a call that arrived or was restored.
    pub number: u64,
    /// When it was written, by the clock of the engine.
    pub at: Timestamp,
    /// The record.
    pub record: LogRecord,
}

/// The part of an agent's log that a replica has not seen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LogPart {
    /// The epoch that it belongs to.
    pub epoch: Epoch,
    /// The position before the oldest record that the engine holds.
    pub floor: u64,
    /// Whether records of this epoch have left the log.
    pub is_trimmed: bool,
    /// The records, in their order.
    pub entries: Vec<LogEntry>,
}

/// A replica's position in an agent's log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogPosition {
    /// The epoch.
    pub epoch: Epoch,
    /// The position of the newest record that was applied; 0 for none.
    pub seen: u64,
}

impl IncidentId {
    /// The id of the incident that `call` triggers at `at`. Every replica that judges the call
    /// derives the same one.
    pub fn of_call(call: CallId, at: Timestamp) -> IncidentId {
        let random = call.0.as_u128() & ((1 << 74) - 1);
        let millis = u128::from(at.as_millis().max(0).unsigned_abs()) & ((1 << 48) - 1);
        // The random bits of the call, with one flipped: the two ids must differ.
        let (high, low) = (random >> 62 ^ 1, random & ((1 << 62) - 1));
        IncidentId(Uuid::from_u128(millis << 80 | 7 << 76 | (high & 0xfff) << 64 | 2 << 62 | low))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ended_calls_are_read_as_written() {
        let response = ResponsePrint { literal: TextHash(7), adaptive: TextHash(u64::MAX), is_short: true, remark: 9 };
        for response in [None, Some(response), Some(ResponsePrint { is_short: false, ..response })] {
            let (call, conversation) = (CallId::new(), ConversationId(42));
            let ended = LogRecord::Ended(EndedCall { call, conversation, outcome: Outcome::Answered, response });
            let bytes = ended.encode();
            assert!(bytes.len() <= 44, "{}", bytes.len());
            assert_eq!(LogRecord::decode(&bytes), ended);
        }
    }

    #[test]
    fn unknown_and_damaged_records_are_skipped() {
        for bytes in [&[][..], &[9, 1, 2], &[ENDED], &[ENDED, 1, 1, 0], &[ARRIVED, 0]] {
            assert_eq!(LogRecord::decode(bytes), LogRecord::Unknown);
        }
    }

    #[test]
    fn incident_of_a_call_is_a_version_7_id_of_its_time() {
        let (call, at) = (CallId::new(), Timestamp::from_millis(1_760_000_000_123));
        let incident = IncidentId::of_call(call, at);
        assert_eq!(incident, IncidentId::of_call(call, at));
        assert_ne!(incident.0, call.0);
        assert_ne!(incident, IncidentId::of_call(CallId::new(), at));
        assert_eq!(incident.0.get_version_num(), 7);
        assert_eq!(CallId(incident.0).time(), Some(at));
    }
}
