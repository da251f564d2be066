//! A limit on how long a peer may be silent. Its timer is armed at the first wait and not touched
//! when bytes pass: when it fires, it is moved to the current deadline.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};

/// The timeout of one peer. Its limit is zero until [`restart`](IdleTimeout::restart) sets one.
#[derive(Default)]
pub(crate) struct IdleTimeout {
    limit: Duration,
    /// The start of the current wait; `None` while nothing waits. Bytes that pass need no clock
    /// reading.
    waiting_since: Option<Instant>,
    timer: Option<Pin<Box<Sleep>>>,
}

impl IdleTimeout {
    /// Allows a silence of `limit`, counted from the first wait.
    pub(crate) fn new(limit: Duration) -> IdleTimeout {
        IdleTimeout { limit, waiting_since: None, timer: None }
    }

    /// The limit.
    pub(crate) fn limit(&self) -> Duration {
        self.limit
    }

    /// Uses the same timer for the next wait, of at most `limit`.
    pub(crate) fn restart(&mut self, limit: Duration) {
        self.limit = limit;
        self.waiting_since = None;
    }

    /// Records that the peer sent or accepted something.
    pub(crate) fn note_activity(&mut self) {
        self.waiting_since = None;
    }

    /// Records that the peer sent or accepted something at `moment`.
    pub(crate) fn note_activity_at(&mut self, moment: Instant) {
        self.waiting_since = self.waiting_since.max(Some(moment));
    }

    /// Ready when the peer has been silent for too long.
    pub(crate) fn poll_expired(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let deadline = *self.waiting_since.get_or_insert_with(Instant::now) + self.limit;
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        // The new deadline is earlier. A later one can wait until the timer fires.
        if deadline < timer.deadline() {
            timer.as_mut().reset(deadline);
        }
        loop {
            ready!(timer.as_mut().poll(cx));
            if deadline <= Instant::now() {
                return Poll::Ready(());
            }
            timer.as_mut().reset(deadline);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn activity_moves_the_deadline_without_touching_the_timer() {
        let started = Instant::now();
        let mut timeout = IdleTimeout::new(Duration::from_secs(10));
        let armed = poll_fn(|cx| Poll::Ready(timeout.poll_expired(cx))).await;
        assert!(armed.is_pending());

        tokio::time::advance(Duration::from_secs(7)).await;
        timeout.note_activity();
        poll_fn(|cx| timeout.poll_expired(cx)).await;
        assert_eq!(started.elapsed().as_secs(), 17);
    }

    #[tokio::test(start_paused = true)]
    async fn the_limit_counts_from_the_first_wait() {
        let started = Instant::now();
        let mut timeout = IdleTimeout::new(Duration::from_secs(10));
        tokio::time::advance(Duration::from_secs(60)).await;
        poll_fn(|cx| timeout.poll_expired(cx)).await;
        assert_eq!(started.elapsed().as_secs(), 70);
    }

    #[tokio::test(start_paused = true)]
    async fn a_shorter_limit_takes_effect_at_once() {
        let started = Instant::now();
        let mut timeout = IdleTimeout::new(Duration::from_secs(120));
        assert!(poll_fn(|cx| Poll::Ready(timeout.poll_expired(cx))).await.is_pending());
        timeout.restart(Duration::from_secs(3));
        poll_fn(|cx| timeout.poll_expired(cx)).await;
        assert_eq!(started.elapsed().as_secs(), 3);
    }
}
