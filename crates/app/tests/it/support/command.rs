//! The real binary as a command.

use std::process::{Command, Output};

use serde_json::Value;

/// The result of a command.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    /// Its output, after success.
    pub(crate) fn said(&self) -> &str {
        assert_eq!((self.code, self.stderr.as_str()), (Some(0), ""), "{self:?}");
        &self.stdout
    }

    /// Its output as JSON, after success.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(self.said()).unwrap_or_else(|error| panic!("{error}: {}", self.stdout))
    }
}

impl From<Output> for Run {
    fn from(output: Output) -> Run {
        Run {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// The binary, without the environment settings of the person who runs the tests.
pub(crate) fn agentgazer() -> Command {
    // Figures are measured on a release build, which takes long to make together with the tests.
    let program = std::env::var_os("TEST_BINARY").unwrap_or_else(|| env!("CARGO_BIN_EXE_agentgazer").into());
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("AGENTGAZER_")) {
        command.env_remove(name);
    }
    command
}

/// Runs a command to its end.
pub(crate) fn run(arguments: &[&str]) -> Run {
    agentgazer().args(arguments).output().unwrap().into()
}
