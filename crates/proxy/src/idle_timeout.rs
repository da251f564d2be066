//! How long a peer may be silent. One timer, armed when somebody first has to wait and never touched by a byte that passes:
//! only when it fires is it moved to where it should be by then.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};

/// The silence of one peer. Its limit is zero until it is [restarted](Silence::restart) with one.
#[derive(Default)]
pub(crate) struct Silence {
    limit: Duration,
    /// When somebody first had to wait for it; none while nobody has to. So bytes that pass cost no look at the clock.
    since: Option<Instant>,
    timer: Option<Pin<Box<Sleep>>>,
}

impl Silence {
    /// Silent for at most `limit` from when somebody first has to wait.
    pub(crate) fn new(limit: Duration) -> Silence {
        Silence { limit, since: None, timer: None }
    }

    /// How long it may be.
    pub(crate) fn limit(&self) -> Duration {
        self.limit
    }

    /// The same timer for the next wait, of at most `limit`.
    pub(crate) fn restart(&mut self, limit: Duration) {
        self.limit = limit;
        self.since = None;
    }

    /// Something was heard.
    pub(crate) fn broken(&mut self) {
        self.since = None;
    }

    /// Something was heard at `moment`.
    pub(crate) fn broken_at(&mut self, moment: Instant) {
        self.since = self.since.max(Some(moment));
    }

    /// Ready when the peer has been silent for too long.
    pub(crate) fn poll_too_long(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let deadline = *self.since.get_or_insert_with(Instant::now) + self.limit;
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        // A shorter limit than before; a later deadline can wait until the timer fires.
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
    async fn a_byte_moves_the_deadline_without_touching_the_timer() {
        let started = Instant::now();
        let mut silence = Silence::new(Duration::from_secs(10));
        let armed = poll_fn(|cx| Poll::Ready(silence.poll_too_long(cx))).await;
        assert!(armed.is_pending());

        tokio::time::advance(Duration::from_secs(7)).await;
        silence.broken();
        poll_fn(|cx| silence.poll_too_long(cx)).await;
        assert_eq!(started.elapsed().as_secs(), 17);
    }

    #[tokio::test(start_paused = true)]
    async fn silence_begins_when_somebody_first_has_to_wait() {
        let started = Instant::now();
        let mut silence = Silence::new(Duration::from_secs(10));
        tokio::time::advance(Duration::from_secs(60)).await;
        poll_fn(|cx| silence.poll_too_long(cx)).await;
        assert_eq!(started.elapsed().as_secs(), 70);
    }

    #[tokio::test(start_paused = true)]
    async fn a_shorter_limit_holds_at_once() {
        let started = Instant::now();
        let mut silence = Silence::new(Duration::from_secs(120));
        assert!(poll_fn(|cx| Poll::Ready(silence.poll_too_long(cx))).await.is_pending());
        silence.restart(Duration::from_secs(3));
        poll_fn(|cx| silence.poll_too_long(cx)).await;
        assert_eq!(started.elapsed().as_secs(), 3);
    }
}
