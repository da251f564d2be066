//! Exit codes that scripts can rely on, and the failures that lead to them.

use std::fmt;
use std::process::ExitCode;

/// The exit codes. A second SIGINT or SIGTERM while the server drains ends it at once with 130 or
/// 143 instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Success.
    Ok = 0,
    /// The command was tried and failed.
    Failed = 1,
    /// A mistake in the arguments or the configuration; nothing was done.
    Usage = 2,
    /// No server answered.
    Unreachable = 3,
    /// There is no such agent or incident.
    NotFound = 4,
    /// The server refused: a wrong token, or impossible in the current state.
    Refused = 5,
}

impl Exit {
    /// The code for an unsuccessful answer of the server.
    pub fn of_status(status: http::StatusCode) -> Exit {
        match status.as_u16() {
            400 | 413 | 415 | 422 => Exit::Usage,
            404 => Exit::NotFound,
            401 | 403 | 409 | 421 | 429 => Exit::Refused,
            _ => Exit::Failed,
        }
    }

    /// The number.
    pub fn code(self) -> u8 {
        self as u8
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}

/// Why a command failed, and the code it ends with.
#[derive(Debug)]
pub struct Failure {
    /// The code.
    pub exit: Exit,
    /// The reason, for people.
    pub error: anyhow::Error,
}

impl Failure {
    /// A failure that ends with `exit`.
    pub fn new(exit: Exit, message: impl fmt::Display + fmt::Debug + Send + Sync + 'static) -> Failure {
        Failure { exit, error: anyhow::Error::msg(message) }
    }

    /// Whether the reader of our output has closed it (`agentgazer agents | head -1`).
    pub fn is_broken_pipe(&self) -> bool {
        let kind = self.error.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
        kind == Some(std::io::ErrorKind::BrokenPipe)
    }
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure { exit: Exit::Failed, error: error.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_are_stable() {
        let codes = [Exit::Ok, Exit::Failed, Exit::Usage, Exit::Unreachable, Exit::NotFound, Exit::Refused];
        assert_eq!(codes.map(Exit::code), [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn an_answer_of_the_server_has_its_code() {
        let check = |status: u16, expected: Exit| {
            let exit = http::StatusCode::from_u16(status).map(Exit::of_status);
            assert_eq!(exit.ok(), Some(expected), "{status}");
        };
        for (status, expected) in [
            (400, Exit::Usage),
            (422, Exit::Usage),
            (401, Exit::Refused),
            (403, Exit::Refused),
            (404, Exit::NotFound),
            (409, Exit::Refused),
            (421, Exit::Refused),
            (500, Exit::Failed),
            (503, Exit::Failed),
        ] {
            check(status, expected);
        }
    }

    #[test]
    fn closed_pipe_is_not_a_failure() {
        let broken = Failure::from(std::io::Error::from(std::io::ErrorKind::BrokenPipe));
        assert!(broken.is_broken_pipe());
        assert!(!Failure::new(Exit::Failed, "no").is_broken_pipe());
    }
}
