//! Detectors that are programs: they read replay lines and print a JSON object per run with `id`
//! and `killed_at`.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use serde::Deserialize;

use super::Verdicts;

/// A program and its arguments; the file, or `-` for standard input, comes last.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) name: String,
    command: OsString,
    arguments: Vec<OsString>,
}

/// What a program prints for a run. Other lines, totals for example, are skipped.
#[derive(Deserialize)]
struct Printed {
    id: String,
    killed_at: Option<usize>,
}

impl Program {
    pub(crate) fn agentgazer(path: &Path) -> Program {
        let arguments = ["replay", "--json"].map(OsString::from).to_vec();
        Program { name: "agentgazer".to_owned(), command: path.as_os_str().to_owned(), arguments }
    }

    /// A command line for `sh`; the file is its last argument.
    pub(crate) fn shell(name: &str, command: &str) -> Program {
        let arguments = ["-c".into(), format!("{command} \"$@\"").into(), name.into()].to_vec();
        Program { name: name.to_owned(), command: "sh".into(), arguments }
    }

    fn command(&self, file: &Path) -> Command {
        let mut command = Command::new(&self.command);
        command.args(&self.arguments).arg(file).stdout(Stdio::piped());
        command
    }

    /// Runs the program on each file.
    pub(crate) fn judge(&self, files: &[PathBuf]) -> anyhow::Result<Verdicts> {
        let mut verdicts = Verdicts { killed_at: HashMap::new(), took: Duration::ZERO };
        for file in files {
            let start = Instant::now();
            let output = self.command(file).stderr(Stdio::inherit()).output();
            let output = output.with_context(|| format!("running {}", self.command.display()))?;
            verdicts.took += start.elapsed();
            if !output.status.success() {
                bail!("{} failed on {}", self.name, file.display());
            }
            verdicts.killed_at.extend(read_printed(output.stdout.as_slice())?);
        }
        Ok(verdicts)
    }

    /// Runs the program on lines that are written while it reads, so that nothing goes to disk.
    pub(crate) fn judge_lines(
        &self,
        write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>,
    ) -> anyhow::Result<Verdicts> {
        let start = Instant::now();
        let child = self.command(Path::new("-")).stdin(Stdio::piped()).spawn();
        let mut child = child.with_context(|| format!("running {}", self.command.display()))?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let (Some(mut input), Some(output)) = (input, output) else { bail!("{} has no pipes", self.name) };
        // The output is read beside the writing: a full pipe would stop both.
        let reader = std::thread::spawn(move || read_printed(output));
        write(&mut input)?;
        drop(input);
        let killed_at = reader.join().map_err(|_| anyhow::anyhow!("reading the output failed"))??;
        let status = child.wait()?;
        if !status.success() {
            bail!("{} failed: {status}", self.name);
        }
        Ok(Verdicts { killed_at, took: start.elapsed() })
    }
}

fn read_printed(output: impl Read) -> anyhow::Result<HashMap<String, Option<usize>>> {
    let mut killed_at = HashMap::new();
    for line in BufReader::new(output).lines() {
        if let Ok(printed) = serde_json::from_str::<Printed>(&line?) {
            killed_at.insert(printed.id, printed.killed_at);
        }
    }
    Ok(killed_at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_gets_the_file_last_and_its_lines_are_read() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("printed");
        std::fs::write(&file, "{\"id\":\"a\",\"killed_at\":7}\n{\"id\":\"b\",\"killed_at\":null}\n{\"runs\":2}\n")
            .unwrap();
        let verdicts = Program::shell("cat", "cat").judge(&[file]).unwrap();
        assert_eq!(verdicts.killed_at, HashMap::from([("a".to_owned(), Some(7)), ("b".to_owned(), None)]));
    }

    #[test]
    fn lines_are_piped_through() {
        let lines = |out: &mut dyn Write| Ok(out.write_all(b"{\"id\":\"a\",\"killed_at\":1}\n")?);
        let verdicts = Program::shell("cat", "cat").judge_lines(lines).unwrap();
        assert_eq!(verdicts.killed_at, HashMap::from([("a".to_owned(), Some(1))]));
        let failed = Program::shell("false", "cat; false").judge_lines(|_| Ok(()));
        assert!(failed.is_err());
    }
}
