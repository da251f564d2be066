//! The signals that stop a server: the first one drains, the second one ends it at once.

use std::io;

use tokio::signal::unix::{self, SignalKind};

/// A signal that stops a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    Interrupt,
    Terminate,
}

impl Signal {
    /// The exit code of a process that a signal ended, as in a shell.
    pub(crate) fn exit_code(self) -> i32 {
        match self {
            Signal::Interrupt => 130,
            Signal::Terminate => 143,
        }
    }
}

/// Both signals, from the moment this is created.
#[derive(Debug)]
pub(crate) struct Signals {
    interrupt: unix::Signal,
    terminate: unix::Signal,
}

impl Signals {
    /// Installs the handlers.
    pub(crate) fn listen() -> io::Result<Signals> {
        Ok(Signals {
            interrupt: unix::signal(SignalKind::interrupt())?,
            terminate: unix::signal(SignalKind::terminate())?,
        })
    }

    /// The next signal.
    pub(crate) async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.interrupt.recv() => Signal::Interrupt,
            _ = self.terminate.recv() => Signal::Terminate,
        }
    }

    /// From now on the next signal ends the process at once.
    pub(crate) fn exit_at_once(mut self) {
        tokio::spawn(async move {
            let signal = self.next().await;
            #[allow(clippy::disallowed_methods, reason = "the second signal asks for just that")]
            std::process::exit(signal.exit_code());
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_signal_ends_as_shells_know_it() {
        assert_eq!([Signal::Interrupt, Signal::Terminate].map(Signal::exit_code), [130, 143]);
    }
}
