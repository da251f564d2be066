//! The bodies of one call as they are held for evidence: as they came, or compressed.

use bytes::Bytes;
use http::HeaderValue;
use model::Timestamp;
use wire::Dialect;

/// A piece smaller than this is copied: it may be a small part of a large read buffer, which it would keep alive.
const COPIED_BELOW: usize = 32 << 10;
/// What a body that is not copied may keep alive beside itself: the rest of the buffer that it was read into.
const READ_BUFFER: usize = 64 << 10;
/// A body smaller than this is not worth compressing.
const PACKED_FROM: usize = 512;
/// What an entry costs beside its bodies, roughly.
pub(crate) const ENTRY: usize = 256;

/// One body as it is held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Held {
    /// As it came; the number is how much memory it takes.
    Raw(Bytes, usize),
    /// Compressed with zstd, in a buffer of its own length; the number is its length as it came.
    Packed(Bytes, usize),
    /// As it came, for good, because compressing it gains nothing; in a buffer of its own length.
    Settled(Bytes),
}

impl Held {
    /// A request as it came. A large one shares the buffer that it is sent from.
    pub(crate) fn request(body: &Bytes) -> Held {
        match body.len() {
            length if length < COPIED_BELOW => Held::tight(Bytes::copy_from_slice(body)),
            length => Held::Raw(body.clone(), length + READ_BUFFER),
        }
    }

    /// A response as it came. A buffer with unused room is replaced: the room would be held and not counted.
    pub(crate) fn response(body: Vec<u8>) -> Held {
        Held::tight(if body.capacity() > body.len() { Bytes::copy_from_slice(&body) } else { body.into() })
    }

    /// A body in a buffer of its own length.
    fn tight(body: Bytes) -> Held {
        let length = body.len();
        if length < PACKED_FROM { Held::Settled(body) } else { Held::Raw(body, length) }
    }

    /// How much memory it takes.
    pub(crate) fn stored(&self) -> usize {
        match self {
            Held::Raw(_, held) => *held,
            Held::Packed(bytes, _) | Held::Settled(bytes) => bytes.len(),
        }
    }

    /// How much of that could be compressed.
    pub(crate) fn raw(&self) -> usize {
        match self {
            Held::Raw(_, held) => *held,
            Held::Packed(..) | Held::Settled(_) => 0,
        }
    }

    /// The same, compressed if that gains anything.
    pub(crate) fn packed(self) -> Held {
        let Held::Raw(bytes, held) = self else { return self };
        match zstd::bulk::compress(&bytes, 1) {
            // Copied, because the compressor's buffer is as large as its input.
            Ok(packed) if packed.len() < bytes.len() => Held::Packed(Bytes::copy_from_slice(&packed), bytes.len()),
            _ if held > bytes.len() => Held::Settled(Bytes::copy_from_slice(&bytes)),
            _ => Held::Settled(bytes),
        }
    }

    /// Its length as it came.
    fn length(&self) -> usize {
        match self {
            Held::Raw(bytes, _) | Held::Settled(bytes) => bytes.len(),
            Held::Packed(_, length) => *length,
        }
    }

    /// The body as it came; none if it cannot be had.
    pub(crate) fn read(&self) -> Option<Vec<u8>> {
        match self {
            Held::Raw(bytes, _) | Held::Settled(bytes) => Some(bytes.to_vec()),
            Held::Packed(bytes, length) => zstd::bulk::decompress(bytes, *length).ok(),
        }
    }
}

/// The bodies of one call.
#[derive(Clone, Debug)]
pub(crate) struct HeldCall {
    /// When it came.
    pub(crate) time: Timestamp,
    /// How its bodies are to be read.
    pub(crate) dialect: Dialect,
    /// What was asked.
    pub(crate) request: Held,
    /// What was answered, so far as there was an answer.
    pub(crate) response: Option<HeldResponse>,
}

/// The answer to one call.
#[derive(Clone, Debug)]
pub(crate) struct HeldResponse {
    /// What was answered.
    pub(crate) body: Held,
    /// Tells a stream from a body.
    pub(crate) content_type: Option<HeaderValue>,
    /// Whether it is only the beginning.
    pub(crate) cut: bool,
}

impl HeldCall {
    /// A call that has not been answered.
    pub(crate) fn new(time: Timestamp, dialect: Dialect, request: &Bytes) -> HeldCall {
        HeldCall { time, dialect, request: Held::request(request), response: None }
    }

    /// The length of its bodies as they came.
    pub(crate) fn length(&self) -> usize {
        self.sum(Held::length)
    }

    fn sum(&self, size: impl Fn(&Held) -> usize) -> usize {
        size(&self.request) + self.response.as_ref().map_or(0, |response| size(&response.body))
    }

    /// How much memory it takes.
    pub(crate) fn stored(&self) -> usize {
        ENTRY + self.sum(Held::stored)
    }

    /// How much of that could be compressed.
    pub(crate) fn raw(&self) -> usize {
        self.sum(Held::raw)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How much memory the buffer of `held` has, which the test knows because nobody else has it.
    fn capacity(held: Held) -> usize {
        let (Held::Raw(bytes, _) | Held::Packed(bytes, _) | Held::Settled(bytes)) = held;
        Vec::from(bytes).capacity()
    }

    #[test]
    fn what_is_counted_is_what_is_held() {
        let mut roomy = Vec::with_capacity(1 << 20);
        roomy.extend_from_slice(&[7; 40_000]);
        let noise: Vec<u8> = (0..40_000u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        for held in [
            Held::response(roomy.clone()),
            Held::response(vec![7; 100]),
            Held::response(roomy).packed(),
            Held::request(&Bytes::from(vec![7; 1000])),
            Held::request(&Bytes::from(vec![7; 1 << 20])).packed(),
            Held::response(noise).packed(),
        ] {
            let (stored, length) = (held.stored(), held.length());
            assert_eq!(stored, capacity(held), "{length} bytes");
        }
    }
}
