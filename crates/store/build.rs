//! Lists the migrations, to be embedded. The macro of sqlx would do the same, but it compiles every
//! database driver a second time, for the compiler.
#![allow(clippy::print_stdout, reason = "a build script tells cargo so")]

use std::error::Error;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// The folders, with the names of their lists.
const FOLDERS: [(&str, &str); 2] = [("SQLITE", "migrations"), ("POSTGRES", "migrations-postgres")];

fn main() -> Result<(), Box<dyn Error>> {
    let (root, out) = (env::var("CARGO_MANIFEST_DIR")?, env::var("OUT_DIR")?);
    let mut code = String::new();
    for (name, folder) in FOLDERS {
        println!("cargo::rerun-if-changed={folder}");
        write_list(&mut code, name, &Path::new(&root).join(folder))?;
    }
    Ok(fs::write(Path::new(&out).join("migrations.rs"), code)?)
}

/// Writes a constant with version, description and text of every migration in `folder`.
fn write_list(code: &mut String, name: &str, folder: &Path) -> Result<(), Box<dyn Error>> {
    let files = fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
    let mut files = files.collect::<io::Result<Vec<PathBuf>>>()?;
    files.sort();
    writeln!(code, "pub(crate) const {name}: &[(i64, &str, &str)] = &[")?;
    for file in files {
        let stem = file.file_stem().unwrap_or_default().to_string_lossy();
        let (version, description) =
            stem.split_once('_').ok_or_else(|| format!("{} is not VERSION_DESCRIPTION.sql", file.display()))?;
        let (version, description) = (version.parse::<i64>()?, description.replace('_', " "));
        writeln!(code, "    ({version}, {description:?}, include_str!({file:?})),")?;
    }
    writeln!(code, "];")?;
    Ok(())
}
