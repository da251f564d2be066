//! Runs long work without blocking a worker thread: a body of thirty megabytes takes up to a second
//! to read and score, and its worker also carries the streams of other agents. At most one such job
//! runs per processor, because each needs memory.

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::Semaphore;

/// From this many bytes on, it pays off to move other tasks to another thread, which takes some
/// microseconds.
const LONG: usize = 512 << 10;

/// Runs long work.
pub(crate) struct Blocking {
    turns: Semaphore,
}

impl Default for Blocking {
    fn default() -> Self {
        Blocking { turns: Semaphore::new(std::thread::available_parallelism().map_or(1, usize::from)) }
    }
}

impl Blocking {
    /// Runs `work` on `length` bytes. If that may take long, it waits for a permit, and the other
    /// tasks of this worker move to another thread.
    pub(crate) async fn run<T>(&self, length: usize, work: impl FnOnce() -> T) -> T {
        if length < LONG {
            return work();
        }
        // The semaphore is never closed, so there is always a permit.
        let _turn = self.turns.acquire().await;
        match Handle::current().runtime_flavor() {
            RuntimeFlavor::MultiThread => tokio::task::block_in_place(work),
            _ => work(),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may")]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn other_tasks_run_meanwhile() {
        let on_the_worker = tokio::spawn(async {
            let (sender, receiver) = mpsc::channel();
            tokio::spawn(async move { sender.send("others") });
            Blocking::default().run(LONG, move || receiver.recv_timeout(Duration::from_secs(60))).await
        });
        assert_eq!(on_the_worker.await.unwrap(), Ok("others"));
    }

    #[tokio::test]
    async fn only_long_work_waits_for_its_turn() {
        let blocking = Blocking { turns: Semaphore::new(0) };
        assert_eq!(blocking.run(LONG - 1, || 7).await, 7);
        let waiting = blocking.run(LONG, || 8);
        tokio::pin!(waiting);
        assert!(tokio::time::timeout(Duration::ZERO, &mut waiting).await.is_err());
        blocking.turns.add_permits(1);
        assert_eq!(waiting.await, 8);
    }
}
