//! Decodes an answer as it passes, for the observer that reads a copy.

use std::io::{self, Write};

use brotli_decompressor::DecompressorWriter;
use flate2::write;

use crate::encoding::{BROTLI_BUFFER, Encoding, ZSTD_WINDOW, is_zlib};

/// Decodes what is written to it, and writes that to `W`.
pub(crate) enum Decoder<W: Write + 'static> {
    Plain(W),
    Gzip(Box<write::MultiGzDecoder<W>>),
    Deflate(Box<Inflater<W>>),
    Zstd(Box<zstd::stream::write::Decoder<'static, W>>),
    Brotli(Box<DecompressorWriter<W>>),
}

impl<W: Write> Decoder<W> {
    pub(crate) fn new(encoding: Encoding, sink: W) -> io::Result<Decoder<W>> {
        Ok(match encoding {
            Encoding::Identity => Decoder::Plain(sink),
            Encoding::Gzip => Decoder::Gzip(Box::new(write::MultiGzDecoder::new(sink))),
            Encoding::Deflate => Decoder::Deflate(Box::new(Inflater::new(sink))),
            Encoding::Zstd => {
                let mut decoder = zstd::stream::write::Decoder::new(sink)?;
                decoder.window_log_max(ZSTD_WINDOW)?;
                Decoder::Zstd(Box::new(decoder))
            }
            Encoding::Brotli => Decoder::Brotli(Box::new(DecompressorWriter::new(sink, BROTLI_BUFFER))),
        })
    }

    /// Decodes `data` through to the sink.
    pub(crate) fn pass(&mut self, data: &[u8]) -> io::Result<()> {
        let decoder: &mut dyn Write = match self {
            Decoder::Plain(sink) => return sink.write_all(data),
            Decoder::Gzip(decoder) => decoder,
            Decoder::Deflate(inflater) => return inflater.pass(data),
            Decoder::Zstd(decoder) => decoder,
            Decoder::Brotli(decoder) => decoder,
        };
        decoder.write_all(data)?;
        decoder.flush()
    }

    pub(crate) fn sink(&self) -> &W {
        match self {
            Decoder::Plain(sink) => sink,
            Decoder::Gzip(decoder) => decoder.get_ref(),
            Decoder::Deflate(inflater) => inflater.decoder.get_ref(),
            Decoder::Zstd(decoder) => decoder.get_ref(),
            Decoder::Brotli(decoder) => decoder.get_ref(),
        }
    }

    pub(crate) fn sink_mut(&mut self) -> &mut W {
        match self {
            Decoder::Plain(sink) => sink,
            Decoder::Gzip(decoder) => decoder.get_mut(),
            Decoder::Deflate(inflater) => inflater.decoder.get_mut(),
            Decoder::Zstd(decoder) => decoder.get_mut(),
            Decoder::Brotli(decoder) => decoder.get_mut(),
        }
    }
}

/// Decodes `deflate`, with or without its zlib wrapper.
pub(crate) struct Inflater<W: Write> {
    decoder: write::DeflateDecoder<W>,
    /// The first two bytes, until both have come: they show whether there is a wrapper.
    head: Vec<u8>,
    begun: bool,
}

impl<W: Write> Inflater<W> {
    fn new(sink: W) -> Inflater<W> {
        Inflater { decoder: write::DeflateDecoder::new(sink), head: Vec::new(), begun: false }
    }

    fn pass(&mut self, mut data: &[u8]) -> io::Result<()> {
        if !self.begun {
            let (head, rest) = data.split_at(data.len().min(2 - self.head.len()));
            self.head.extend_from_slice(head);
            data = rest;
            if self.head.len() < 2 {
                return Ok(());
            }
            self.begun = true;
            if !is_zlib(&self.head) {
                let head = std::mem::take(&mut self.head);
                self.write(&head)?;
            }
        }
        self.write(data)?;
        self.decoder.flush()
    }

    /// Decodes `data` up to the end of the stream, and ignores the checksum that follows.
    fn write(&mut self, mut data: &[u8]) -> io::Result<()> {
        while !data.is_empty() {
            match self.decoder.write(data)? {
                0 => break,
                taken => data = &data[taken..],
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
