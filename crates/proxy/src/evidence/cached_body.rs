//! The bodies of one call kept as evidence: as received, or compressed.

use bytes::Bytes;
use http::HeaderValue;
use model::Timestamp;
use wire::Dialect;

/// A smaller body is copied: it may be a small part of a large read buffer, which it would keep
/// alive.
const COPIED_BELOW: usize = 32 << 10;
/// Memory that a body keeps alive if it is not copied: the rest of its read buffer.
const READ_BUFFER: usize = 64 << 10;
/// A smaller body is not worth compressing.
const COMPRESSED_FROM: usize = 512;
/// The rough size of an entry without its bodies: the call, its places in the cache and in the set
/// of those on disk, both half full.
pub(crate) const ENTRY: usize = 256;

/// One body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CachedBody {
    /// As received; the number is the memory that it takes.
    Raw(Bytes, usize),
    /// Compressed with zstd, in a buffer of exactly that length; the number is the original length.
    Compressed(Bytes, usize),
    /// As received, because compressing it gains nothing; in a buffer of exactly its length.
    Incompressible(Bytes),
}

impl CachedBody {
    /// A request as received. A large one shares the buffer that it is sent from.
    pub(crate) fn request(body: &Bytes) -> CachedBody {
        match body.len() {
            length if length < COPIED_BELOW => CachedBody::tight(Bytes::copy_from_slice(body)),
            length => CachedBody::Raw(body.clone(), length + READ_BUFFER),
        }
    }

    /// A response as received. A buffer with unused capacity is replaced, because that capacity
    /// would not be counted.
    pub(crate) fn response(body: Vec<u8>) -> CachedBody {
        CachedBody::tight(if body.capacity() > body.len() { Bytes::copy_from_slice(&body) } else { body.into() })
    }

    /// A body in a buffer of exactly its length.
    fn tight(body: Bytes) -> CachedBody {
        let length = body.len();
        if length < COMPRESSED_FROM { CachedBody::Incompressible(body) } else { CachedBody::Raw(body, length) }
    }

    /// The memory that it takes.
    pub(crate) fn stored(&self) -> usize {
        match self {
            CachedBody::Raw(_, held) => *held,
            CachedBody::Compressed(bytes, _) | CachedBody::Incompressible(bytes) => bytes.len(),
        }
    }

    /// The part of that memory that could be compressed.
    pub(crate) fn raw(&self) -> usize {
        match self {
            CachedBody::Raw(_, held) => *held,
            CachedBody::Compressed(..) | CachedBody::Incompressible(_) => 0,
        }
    }

    /// The same body, compressed if that makes it smaller.
    pub(crate) fn compressed(self) -> CachedBody {
        let CachedBody::Raw(bytes, held) = self else { return self };
        match zstd::bulk::compress(&bytes, 1) {
            // Copied, because the compressor's buffer is as large as its input.
            Ok(compressed) if compressed.len() < bytes.len() => {
                CachedBody::Compressed(Bytes::copy_from_slice(&compressed), bytes.len())
            }
            _ if held > bytes.len() => CachedBody::Incompressible(Bytes::copy_from_slice(&bytes)),
            _ => CachedBody::Incompressible(bytes),
        }
    }

    /// Its original length.
    fn length(&self) -> usize {
        match self {
            CachedBody::Raw(bytes, _) | CachedBody::Incompressible(bytes) => bytes.len(),
            CachedBody::Compressed(_, length) => *length,
        }
    }

    /// The original body; `None` if it cannot be decompressed.
    pub(crate) fn read(&self) -> Option<Vec<u8>> {
        match self {
            CachedBody::Raw(bytes, _) | CachedBody::Incompressible(bytes) => Some(bytes.to_vec()),
            CachedBody::Compressed(bytes, length) => zstd::bulk::decompress(bytes, *length).ok(),
        }
    }
}

/// The bodies of one call.
#[derive(Clone, Debug)]
pub(crate) struct CachedCall {
    /// When it came.
    pub(crate) time: Timestamp,
    /// The dialect of its bodies.
    pub(crate) dialect: Dialect,
    /// The request.
    pub(crate) request: CachedBody,
    /// The response, if there is one yet.
    pub(crate) response: Option<CachedResponse>,
}

/// The response to one call.
#[derive(Clone, Debug)]
pub(crate) struct CachedResponse {
    /// Its body.
    pub(crate) body: CachedBody,
    /// Distinguishes a stream from a plain body.
    pub(crate) content_type: Option<HeaderValue>,
    /// Whether the body was cut.
    pub(crate) cut: bool,
}

impl CachedCall {
    /// A call without an answer.
    pub(crate) fn new(time: Timestamp, dialect: Dialect, request: &Bytes) -> CachedCall {
        CachedCall { time, dialect, request: CachedBody::request(request), response: None }
    }

    /// The original length of its bodies.
    pub(crate) fn length(&self) -> usize {
        self.sum(CachedBody::length)
    }

    fn sum(&self, size: impl Fn(&CachedBody) -> usize) -> usize {
        size(&self.request) + self.response.as_ref().map_or(0, |response| size(&response.body))
    }

    /// The memory that it takes.
    pub(crate) fn stored(&self) -> usize {
        ENTRY + self.sum(CachedBody::stored)
    }

    /// The part of that memory that could be compressed.
    pub(crate) fn raw(&self) -> usize {
        self.sum(CachedBody::raw)
    }
}

#[cfg(test)]
mod tests {
    use model::CallId;

    use super::*;

    /// The capacity of the buffer of `kept`. The test holds the only reference to it.
    fn capacity(kept: CachedBody) -> usize {
        let (CachedBody::Raw(bytes, _) | CachedBody::Compressed(bytes, _) | CachedBody::Incompressible(bytes)) = kept;
        Vec::from(bytes).capacity()
    }

    #[test]
    fn counted_size_of_an_entry_is_what_it_takes() {
        let places = 2 * (size_of::<CallId>() + size_of::<Box<CachedCall>>()) + 2 * size_of::<CallId>();
        let taken = size_of::<CachedCall>() + places;
        assert!(taken <= ENTRY && ENTRY < 2 * taken, "{taken} bytes");
    }

    #[test]
    fn counted_memory_is_the_capacity_of_the_buffer() {
        let mut roomy = Vec::with_capacity(1 << 20);
        roomy.extend_from_slice(&[7; 40_000]);
        let noise: Vec<u8> = (0..40_000u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        for kept in [
            CachedBody::response(roomy.clone()),
            CachedBody::response(vec![7; 100]),
            CachedBody::response(roomy).compressed(),
            CachedBody::request(&Bytes::from(vec![7; 1000])),
            CachedBody::request(&Bytes::from(vec![7; 1 << 20])).compressed(),
            CachedBody::response(noise).compressed(),
        ] {
            let (stored, length) = (kept.stored(), kept.length());
            assert_eq!(stored, capacity(kept), "{length} bytes");
        }
    }
}
