//! The bodies of one call as they are held for evidence: as they came, or compressed.

use bytes::Bytes;
use http::HeaderValue;
use model::Timestamp;
use wire::Dialect;

/// A piece smaller than this is copied: it may be a small part of a large read buffer, which it would keep alive.
const COPIED_BELOW: usize = 32 << 10;
/// A body smaller than this is not worth compressing.
const PACKED_FROM: usize = 512;
/// What an entry costs beside its bodies, roughly.
pub(crate) const ENTRY: usize = 256;

/// One body as it is held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Held {
    /// As it came.
    Raw(Bytes),
    /// Compressed with zstd; the number is its length as it came.
    Packed(Bytes, usize),
    /// As it came, for good: compressing it gains nothing.
    Settled(Bytes),
}

impl Held {
    /// As it came.
    pub(crate) fn new(body: Bytes) -> Held {
        if body.len() < PACKED_FROM { Held::Settled(body) } else { Held::Raw(body) }
    }

    /// How much memory it takes.
    pub(crate) fn stored(&self) -> usize {
        match self {
            Held::Raw(bytes) | Held::Packed(bytes, _) | Held::Settled(bytes) => bytes.len(),
        }
    }

    /// How much of that could be compressed.
    pub(crate) fn raw(&self) -> usize {
        match self {
            Held::Raw(bytes) => bytes.len(),
            Held::Packed(..) | Held::Settled(_) => 0,
        }
    }

    /// The same, compressed if that gains anything.
    pub(crate) fn packed(self) -> Held {
        let Held::Raw(bytes) = self else { return self };
        match zstd::bulk::compress(&bytes, 1) {
            Ok(packed) if packed.len() < bytes.len() => Held::Packed(packed.into(), bytes.len()),
            _ => Held::Settled(bytes),
        }
    }

    /// Its length as it came.
    fn length(&self) -> usize {
        match self {
            Held::Raw(bytes) | Held::Settled(bytes) => bytes.len(),
            Held::Packed(_, length) => *length,
        }
    }

    /// The body as it came; none if it cannot be had.
    pub(crate) fn read(&self) -> Option<Vec<u8>> {
        match self {
            Held::Raw(bytes) | Held::Settled(bytes) => Some(bytes.to_vec()),
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
        let small = request.len() < COPIED_BELOW;
        let request = if small { Bytes::copy_from_slice(request) } else { request.clone() };
        HeldCall { time, dialect, request: Held::new(request), response: None }
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
