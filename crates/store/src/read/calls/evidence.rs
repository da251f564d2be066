//! Evidence in the forms that pages need: whole, the beginning of every text, or one body.

use model::{CallId, Evidence, IncidentId, Likeness, Matched, MissingBodies, Timestamp};

use crate::columns::{self, invalid, unsigned};
use crate::database::{self, Row};
use crate::evidence::unpack;
use crate::{Store, StoreError};

/// One call of the evidence, bodies unpacked.
#[derive(Clone, Debug)]
pub struct EvidenceRow {
    /// The call.
    pub evidence: Evidence,
    /// Characters of the request body.
    pub request_chars: u64,
    /// Characters of the response body.
    pub response_chars: u64,
}

/// One call of the evidence without its bodies and with its texts cut, for the first view of a
/// page.
#[derive(Clone, Debug)]
pub struct EvidenceHead {
    /// The call.
    pub call: CallId,
    /// When it came; `None` if only its fingerprint is known.
    pub time: Option<Timestamp>,
    /// Why it is part of the evidence.
    pub matched: Vec<Matched>,
    /// Its likeness to other calls.
    pub alike: Vec<Likeness>,
    /// The beginning of the tool calls whose results it reports.
    pub tool_calls: Option<String>,
    /// The beginning of those results.
    pub tool_results: Option<String>,
    /// The beginning of its prompt's text.
    pub prompt: Option<String>,
    /// The beginning of its response's text.
    pub response: Option<String>,
    /// Characters of the whole prompt, result and response, which are cut here.
    pub lengths: TextLengths,
    /// Characters of the request body, if it was kept.
    pub request_chars: Option<u64>,
    /// Characters of the response body, if there is one.
    pub response_chars: Option<u64>,
    /// Whether a body is missing or cut.
    pub truncated: bool,
    /// Why its bodies are missing, if they are and the reason is known.
    pub missing: Option<MissingBodies>,
}

/// How long the texts of a call are, in characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "each names its text")]
pub struct TextLengths {
    pub prompt: u64,
    pub tool_results: u64,
    pub response: u64,
}

/// Which body of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvidenceBody {
    /// The request body.
    Request,
    /// The response body.
    Response,
}

/// The beginning of every text of a call; `$2` is the number of characters.
macro_rules! head {
    () => {
        "select call_id, timestamp, matched, alike, truncated, missing, substr(tool_calls, 1, cast($2 as integer)) as tool_calls,
            substr(tool_results, 1, cast($2 as integer)) as tool_results, substr(prompt, 1, cast($2 as integer)) as prompt,
            substr(response, 1, cast($2 as integer)) as response, coalesce(length(prompt), 0) as prompt_length,
            coalesce(length(tool_results), 0) as tool_results_length,
            coalesce(length(response), 0) as response_length,
            case when request_body is null then null else request_chars end as request_chars,
            case when response_body is null then null else response_chars end as response_chars
        from evidence"
    };
}

impl Store {
    /// The evidence of an incident, oldest first.
    pub async fn evidence(&self, id: IncidentId) -> Result<Vec<EvidenceRow>, StoreError> {
        let query =
            database::query("select * from evidence where incident_id = $1 order by position").bind(id.to_string());
        Ok(query.try_map(evidence_row).fetch_all(&self.readers).await?)
    }

    /// The evidence of an incident, oldest first, with the first `characters` of every text.
    pub async fn evidence_heads(&self, id: IncidentId, characters: u32) -> Result<Vec<EvidenceHead>, StoreError> {
        let query = database::query(concat!(head!(), " where incident_id = $1 order by position"));
        let query = query.bind(id.to_string()).bind(characters);
        Ok(query.try_map(head).fetch_all(&self.readers).await?)
    }

    /// One call of the evidence, with the first `characters` of every text.
    pub async fn evidence_head(
        &self,
        id: IncidentId,
        call: CallId,
        characters: u32,
    ) -> Result<Option<EvidenceHead>, StoreError> {
        let query = database::query(concat!(head!(), " where incident_id = $1 and call_id = $3"));
        let query = query.bind(id.to_string()).bind(characters).bind(call.to_string());
        Ok(query.try_map(head).fetch_optional(&self.readers).await?)
    }

    /// One body of the evidence; `None` if it was not kept.
    pub async fn evidence_body(
        &self,
        id: IncidentId,
        call: CallId,
        which: EvidenceBody,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        let query = match which {
            EvidenceBody::Request => "select request_body from evidence where incident_id = $1 and call_id = $2",
            EvidenceBody::Response => "select response_body from evidence where incident_id = $1 and call_id = $2",
        };
        let query = database::query_scalar(query).bind(id.to_string()).bind(call.to_string());
        let packed: Option<Option<Vec<u8>>> = query.fetch_optional(&self.readers).await?;
        Ok(packed.flatten().and_then(|packed| unpack(&packed)))
    }
}

fn head(row: Row) -> Result<EvidenceHead, sqlx::Error> {
    let chars = |column: &str| row.try_get::<Option<i64>, _>(column).map(|count| count.map(unsigned));
    Ok(EvidenceHead {
        call: CallId::parse(row.try_get("call_id")?).ok_or_else(|| invalid("call_id"))?,
        time: columns::maybe_timestamp(&row, "timestamp")?,
        matched: serde_json::from_str(row.try_get("matched")?).unwrap_or_default(),
        alike: serde_json::from_str(row.try_get("alike")?).unwrap_or_default(),
        tool_calls: row.try_get("tool_calls")?,
        tool_results: row.try_get("tool_results")?,
        prompt: row.try_get("prompt")?,
        response: row.try_get("response")?,
        lengths: TextLengths {
            prompt: row.try_get("prompt_length").map(unsigned)?,
            tool_results: row.try_get("tool_results_length").map(unsigned)?,
            response: row.try_get("response_length").map(unsigned)?,
        },
        request_chars: chars("request_chars")?,
        response_chars: chars("response_chars")?,
        truncated: row.try_get("truncated")?,
        missing: missing(&row)?,
    })
}

fn missing(row: &Row) -> Result<Option<MissingBodies>, sqlx::Error> {
    Ok(row.try_get::<Option<&str>, _>("missing")?.and_then(MissingBodies::parse))
}

fn evidence_row(row: Row) -> Result<EvidenceRow, sqlx::Error> {
    let body = |column| -> Result<Option<Vec<u8>>, sqlx::Error> {
        row.try_get::<Option<&[u8]>, _>(column)?.map(|packed| unpack(packed).ok_or_else(|| invalid(column))).transpose()
    };
    let evidence = Evidence {
        call: CallId::parse(row.try_get("call_id")?).ok_or_else(|| invalid("call_id"))?,
        time: columns::maybe_timestamp(&row, "timestamp")?,
        matched: serde_json::from_str(row.try_get("matched")?).unwrap_or_default(),
        alike: serde_json::from_str(row.try_get("alike")?).unwrap_or_default(),
        prompt: row.try_get("prompt")?,
        tool_calls: row.try_get("tool_calls")?,
        tool_results: row.try_get("tool_results")?,
        response: row.try_get("response")?,
        request_body: body("request_body")?,
        response_body: body("response_body")?,
        truncated: row.try_get("truncated")?,
        missing: missing(&row)?,
    };
    let chars = |column| row.try_get(column).map(unsigned);
    Ok(EvidenceRow { evidence, request_chars: chars("request_chars")?, response_chars: chars("response_chars")? })
}
