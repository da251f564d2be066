//! Long work steps aside: a body of thirty megabytes takes up to a second to read and score, and the worker it is read on
//! carries the streams of other agents. As much of it is done at once as there are processors: each takes its memory.

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::Semaphore;

/// From how many bytes on stepping aside, which takes some microseconds, is worth it.
const LONG: usize = 512 << 10;

/// Where long work is done.
pub(crate) struct Aside {
    turns: Semaphore,
}

impl Default for Aside {
    fn default() -> Self {
        Aside { turns: Semaphore::new(std::thread::available_parallelism().map_or(1, usize::from)) }
    }
}

impl Aside {
    /// Does `work` on `length` bytes. If that may take long, it waits for its turn, and others' tasks move to another thread
    /// meanwhile.
    pub(crate) async fn run<T>(&self, length: usize, work: impl FnOnce() -> T) -> T {
        if length < LONG {
            return work();
        }
        // Never closed, so there always is a turn.
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
    async fn others_go_on_meanwhile() {
        let on_the_worker = tokio::spawn(async {
            let (sender, receiver) = mpsc::channel();
            tokio::spawn(async move { sender.send("others") });
            Aside::default().run(LONG, move || receiver.recv_timeout(Duration::from_secs(60))).await
        });
        assert_eq!(on_the_worker.await.unwrap(), Ok("others"));
    }

    #[tokio::test]
    async fn only_long_work_waits_for_its_turn() {
        let aside = Aside { turns: Semaphore::new(0) };
        assert_eq!(aside.run(LONG - 1, || 7).await, 7);
        let waiting = aside.run(LONG, || 8);
        tokio::pin!(waiting);
        assert!(tokio::time::timeout(Duration::ZERO, &mut waiting).await.is_err());
        aside.turns.add_permits(1);
        assert_eq!(waiting.await, 8);
    }
}
