//! Room for the bodies of requests in flight: one budget for all. Where it is used up a body is not read on until another
//! one has gone out, so that its client waits and does not fail.

use std::sync::Arc;

use tokio::sync::{Mutex, OwnedMutexGuard, OwnedSemaphorePermit, Semaphore};

/// What a body takes without asking: no more than a connection takes anyway.
const FREE: usize = 64 << 10;
/// How much is taken at a time.
const STEP: usize = 256 << 10;

/// Room for the bodies of requests in flight.
pub(crate) struct Room {
    steps: Arc<Semaphore>,
    /// Held by the one body that is read on when there is no room: else many that are half read would wait for each other
    /// for ever.
    overdraft: Arc<Mutex<()>>,
}

/// What one body has taken; given back when this is dropped.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    steps: Option<OwnedSemaphorePermit>,
    overdraft: Option<OwnedMutexGuard<()>>,
}

impl Room {
    /// Room for about `bytes`: in the worst case for one more body than that.
    pub(crate) fn new(bytes: usize) -> Room {
        let steps = (bytes / STEP).clamp(1, Semaphore::MAX_PERMITS);
        Room { steps: Arc::new(Semaphore::new(steps)), overdraft: Arc::default() }
    }
}

impl Taken {
    /// Waits until there is room for a body that has come to `length`.
    pub(crate) async fn grow(&mut self, room: &Room, length: usize) {
        while self.overdraft.is_none() && length > FREE + self.bytes() {
            tokio::select! {
                biased;
                // Never closed, so there always is one in the end.
                Ok(step) = Arc::clone(&room.steps).acquire_owned() => self.add(step),
                overdraft = Arc::clone(&room.overdraft).lock_owned() => self.overdraft = Some(overdraft),
            }
        }
    }

    fn add(&mut self, step: OwnedSemaphorePermit) {
        match &mut self.steps {
            Some(steps) => steps.merge(step),
            None => self.steps = Some(step),
        }
    }

    fn bytes(&self) -> usize {
        self.steps.as_ref().map_or(0, |steps| steps.num_permits() * STEP)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Whether `taken` can grow to `length` without waiting.
    async fn grows(taken: &mut Taken, room: &Room, length: usize) -> bool {
        tokio::time::timeout(Duration::ZERO, taken.grow(room, length)).await.is_ok()
    }

    #[tokio::test]
    async fn over_the_budget_one_goes_on_and_the_others_wait() {
        let room = Room::new(2 * STEP);
        let [mut first, mut second, mut third] = [(); 3].map(|()| Taken::default());
        assert!(grows(&mut first, &room, FREE + 2 * STEP).await);
        assert!(grows(&mut second, &room, FREE).await, "small bodies do not ask");
        assert!(grows(&mut second, &room, 100 * STEP).await, "one is read on, or all might wait for each other");
        assert!(!grows(&mut third, &room, FREE + 1).await);

        drop(first);
        assert!(grows(&mut third, &room, FREE + 2 * STEP).await);
        assert!(!grows(&mut third, &room, FREE + 2 * STEP + 1).await);
        drop(second);
        assert!(grows(&mut third, &room, 100 * STEP).await);
    }
}
