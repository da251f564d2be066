//! The lines of a file, or of standard input, plain or compressed.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use indicatif::ProgressBar;

use crate::exit::{Exit, Failure};

/// Stands for standard input.
const STDIN: &str = "-";

/// The lines of one file.
pub(super) struct Lines {
    /// The file's name for messages.
    pub(super) name: String,
    reader: Box<dyn BufRead>,
    line: Vec<u8>,
    number: u64,
}

/// The number of bytes to read, if known.
pub(super) fn size(file: &Path) -> u64 {
    file.metadata().map_or(0, |metadata| metadata.len())
}

impl Lines {
    /// Opens a file. The first bytes show its compression, so that standard input may be compressed
    /// too.
    pub(super) fn open(file: &Path, progress: &ProgressBar) -> Result<Lines, Failure> {
        let (name, source) = source(file)?;
        let failed = |error: io::Error| Failure::new(Exit::Failed, format!("{name}: {error}"));
        let mut source = BufReader::with_capacity(1 << 16, progress.wrap_read(source));
        let start = source.fill_buf().map_err(failed)?;
        let reader: Box<dyn BufRead> = match start {
            [0x1f, 0x8b, ..] => Box::new(BufReader::with_capacity(1 << 16, MultiGzDecoder::new(source))),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => {
                let decoder = zstd::stream::read::Decoder::with_buffer(source).map_err(failed)?;
                Box::new(BufReader::with_capacity(1 << 16, decoder))
            }
            _ => Box::new(source),
        };
        Ok(Lines { name, reader, line: Vec::new(), number: 0 })
    }

    /// The next line that is not empty, with its number.
    pub(super) fn next(&mut self) -> Result<Option<(u64, &[u8])>, Failure> {
        loop {
            self.line.clear();
            let read = self.reader.read_until(b'\n', &mut self.line);
            let count = read.map_err(|error| Failure::new(Exit::Failed, format!("{}: {error}", self.name)))?;
            if count == 0 {
                return Ok(None);
            }
            self.number += 1;
            if !self.line.trim_ascii().is_empty() {
                return Ok(Some((self.number, self.line.trim_ascii())));
            }
        }
    }
}

fn source(file: &Path) -> Result<(String, Box<dyn Read>), Failure> {
    if file == Path::new(STDIN) {
        return Ok(("standard input".to_owned(), Box::new(io::stdin())));
    }
    let opened = File::open(file);
    let opened = opened.map_err(|error| Failure::new(Exit::Usage, format!("{}: {error}", file.display())))?;
    let name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy().into_owned();
    Ok((name, Box::new(opened)))
}
