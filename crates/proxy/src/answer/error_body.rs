//! Reads the provider's message in a failed answer as it passes.

use std::io::{self, Write};

use http::response::Parts;

use super::decoder::Decoder;
use crate::encoding::Encoding;

/// Decoded bytes that are read: more than the errors of providers have.
const MAX_READ: usize = 8 << 10;

/// Reads the beginning of a failed answer.
pub(crate) struct ErrorBody(Decoder<Beginning>);

/// Keeps the first bytes and refuses the others, so that no more is decoded.
struct Beginning(Vec<u8>);

impl ErrorBody {
    /// `None` if the answer with this head did not fail or cannot be decoded.
    pub(crate) fn new(parts: &Parts) -> Option<Box<ErrorBody>> {
        let has_failed = parts.status.is_client_error() || parts.status.is_server_error();
        let encoding = Encoding::of(&parts.headers).filter(|_| has_failed)?;
        Some(Box::new(ErrorBody(Decoder::new(encoding, Beginning(Vec::new())).ok()?)))
    }

    /// Reads the next bytes. Returns `false` if it needs no more of them.
    pub(crate) fn read(&mut self, data: &[u8]) -> bool {
        self.0.pass(data).is_ok()
    }

    /// The provider's message so far.
    pub(crate) fn message(&self) -> Option<String> {
        wire::error_message(&self.0.sink().0)
    }
}

impl Write for Beginning {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        match data.len().min(MAX_READ - self.0.len()) {
            0 if !data.is_empty() => Err(io::ErrorKind::FileTooLarge.into()),
            taken => {
                self.0.extend_from_slice(&data[..taken]);
                Ok(taken)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
