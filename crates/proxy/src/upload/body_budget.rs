//! One memory budget for the bodies of all requests in flight. When it is used up, a body is not
//! read further until another one has been sent, so its client waits instead of failing.

use std::sync::Arc;

use tokio::sync::{Mutex, OwnedMutexGuard, OwnedSemaphorePermit, Semaphore};

/// Bytes of a body that are not counted: about what a connection needs anyway.
const FREE: usize = 64 << 10;
/// Bytes that are reserved at a time.
const STEP: usize = 256 << 10;

/// The memory budget of request bodies in flight.
pub(crate) struct BodyBudget {
    steps: Arc<Semaphore>,
    /// Held by the one body that may exceed the budget: otherwise many half-read bodies would wait
    /// for each other for ever.
    overdraft: Arc<Mutex<()>>,
}

/// The share of one body; released when this is dropped.
#[derive(Debug, Default)]
pub(crate) struct BodyShare {
    steps: Option<OwnedSemaphorePermit>,
    overdraft: Option<OwnedMutexGuard<()>>,
}

impl BodyBudget {
    /// A budget of about `bytes`; one body may exceed it.
    pub(crate) fn new(bytes: usize) -> BodyBudget {
        let steps = (bytes / STEP).clamp(1, Semaphore::MAX_PERMITS);
        BodyBudget { steps: Arc::new(Semaphore::new(steps)), overdraft: Arc::default() }
    }
}

impl BodyShare {
    /// Waits until the budget has room for a body of `length` bytes.
    pub(crate) async fn grow(&mut self, budget: &BodyBudget, length: usize) {
        while self.overdraft.is_none() && length > FREE + self.bytes() {
            tokio::select! {
                biased;
                // The semaphore is never closed, so this branch always matches.
                Ok(step) = Arc::clone(&budget.steps).acquire_owned() => self.add(step),
                overdraft = Arc::clone(&budget.overdraft).lock_owned() => self.overdraft = Some(overdraft),
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

    /// Whether `share` can grow to `length` without waiting.
    async fn grows(share: &mut BodyShare, budget: &BodyBudget, length: usize) -> bool {
        tokio::time::timeout(Duration::ZERO, share.grow(budget, length)).await.is_ok()
    }

    #[tokio::test]
    async fn over_the_budget_one_body_is_read_and_the_others_wait() {
        let budget = BodyBudget::new(2 * STEP);
        let [mut first, mut second, mut third] = [(); 3].map(|()| BodyShare::default());
        assert!(grows(&mut first, &budget, FREE + 2 * STEP).await);
        assert!(grows(&mut second, &budget, FREE).await, "small bodies are not counted");
        assert!(
            grows(&mut second, &budget, 100 * STEP).await,
            "one body may exceed the budget, or all might wait for each other"
        );
        assert!(!grows(&mut third, &budget, FREE + 1).await);

        drop(first);
        assert!(grows(&mut third, &budget, FREE + 2 * STEP).await);
        assert!(!grows(&mut third, &budget, FREE + 2 * STEP + 1).await);
        drop(second);
        assert!(grows(&mut third, &budget, 100 * STEP).await);
    }
}
