//! `generate`: writes the files.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::Context;

use crate::shapes;

/// Writes `healthy.jsonl` and `loops.jsonl` into `directory`.
pub(crate) fn generate(directory: &Path, seeds: u64, filter: &str) -> anyhow::Result<()> {
    fs::create_dir_all(directory).with_context(|| format!("creating {}", directory.display()))?;
    let mut healthy = create(&directory.join("healthy.jsonl"))?;
    let mut loops = create(&directory.join("loops.jsonl"))?;
    for shape in shapes::all().iter().filter(|shape| shape.name.contains(filter)) {
        let file = if shape.is_loop { &mut loops } else { &mut healthy };
        for seed in 0..seeds {
            for line in shape.lines(seed) {
                writeln!(file, "{line}")?;
            }
        }
    }
    healthy.flush()?;
    loops.flush()?;
    Ok(())
}

fn create(path: &Path) -> anyhow::Result<BufWriter<File>> {
    let file = File::create(path).with_context(|| format!("creating {}", path.display()))?;
    Ok(BufWriter::new(file))
}
