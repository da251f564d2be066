//! Why something is activated, for the audit log.

use std::io::{IsTerminal, Write};

use crate::exit::Failure;

/// The reason that the arguments give. A person at a terminal who activates something is asked for
/// one.
pub(super) fn reason(given: Option<&String>, activates: bool) -> Result<Option<String>, Failure> {
    if given.is_some() || !activates || !std::io::stdin().is_terminal() {
        return Ok(given.cloned());
    }
    let mut terminal = anstream::stderr();
    write!(terminal, "Why? For the audit log; Enter gives no reason: ")?;
    terminal.flush()?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(Some(answer.trim().to_owned()).filter(|reason| !reason.is_empty()))
}
