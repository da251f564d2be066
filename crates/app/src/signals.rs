//! The signals that stop a server: the first one asks, the second one does not.

use std::io;

use tokio::signal::unix::{self, SignalKind};

/// A signal that stops a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    Interrupt,
    Terminate,
}

impl Signal {
    /// What a shell calls the exit of a process that a signal ended.
    pub(crate) fn exit_code(self) -> i32 {
        match self {
            Signal::Interrupt => 130,
            Signal::Terminate => 143,
        }
    }
}

/// Both signals, from the moment this is made.
#[derive(Debug)]
pub(crate) struct Signals {
    interrupt: unix::Signal,
    terminate: unix::Signal,
}

impl Signals {
    /// Takes the signals over.
    pub(crate) fn listen() -> io::Result<Signals> {
        Ok(Signals {
            interrupt: unix::signal(SignalKind::interrupt())?,
            terminate: unix::signal(SignalKind::terminate())?,
        })
    }

    /// The next one.
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
