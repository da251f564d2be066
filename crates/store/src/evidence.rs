//! Evidence as it is stored: bodies counted and compressed, outside of the writer's transactions.

use model::Evidence;

/// Fast, and still a fifth of the size because conversations repeat themselves.
const COMPRESSION_LEVEL: i32 = 1;

/// One call of the evidence, ready to be stored.
#[derive(Debug)]
pub(crate) struct PackedEvidence {
    /// The call, without its bodies.
    pub(crate) evidence: Evidence,
    /// Its request body, compressed.
    pub(crate) request_body: Option<Vec<u8>>,
    /// Its response body, compressed.
    pub(crate) response_body: Option<Vec<u8>>,
    /// Characters of the request body.
    pub(crate) request_chars: u64,
    /// Characters of the response body.
    pub(crate) response_chars: u64,
}

impl PackedEvidence {
    /// How much memory it takes.
    pub(crate) fn bytes(&self) -> usize {
        let Evidence { prompt, tool_calls, tool_results, response, .. } = &self.evidence;
        let texts = [prompt, tool_calls, tool_results, response].map(|text| text.as_ref().map_or(0, String::len));
        let bodies = [&self.request_body, &self.response_body].map(|body| body.as_ref().map_or(0, Vec::len));
        texts.iter().chain(&bodies).sum()
    }
}

/// Counts and compresses the bodies. Slow for large ones: not for an async thread.
pub(crate) fn pack(evidence: Vec<Evidence>) -> Vec<PackedEvidence> {
    evidence.into_iter().map(pack_one).collect()
}

fn pack_one(mut evidence: Evidence) -> PackedEvidence {
    let request = evidence.request_body.take();
    let response = evidence.response_body.take();
    let compress = |body: Option<&Vec<u8>>| body.and_then(|body| zstd::bulk::compress(body, COMPRESSION_LEVEL).ok());
    PackedEvidence {
        request_chars: request.as_deref().map_or(0, characters),
        response_chars: response.as_deref().map_or(0, characters),
        request_body: compress(request.as_ref()),
        response_body: compress(response.as_ref()),
        evidence,
    }
}

/// Decompresses a body.
pub(crate) fn unpack(packed: &[u8]) -> Option<Vec<u8>> {
    zstd::decode_all(packed).ok()
}

/// The number of characters: every byte that does not continue one.
fn characters(body: &[u8]) -> u64 {
    body.iter().filter(|byte| (**byte & 0xc0) != 0x80).count() as u64
}
