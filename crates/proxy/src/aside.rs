//! Long work steps aside: a body of thirty megabytes takes up to a second to read and score, and the worker it is read on
//! carries the streams of other agents.

use tokio::runtime::{Handle, RuntimeFlavor};

/// From how many bytes on stepping aside, which takes some microseconds, is worth it.
const LONG: usize = 512 << 10;

/// Does `work` on `length` bytes; if that may take long, others' tasks move to another thread meanwhile.
pub(crate) fn aside<T>(length: usize, work: impl FnOnce() -> T) -> T {
    let can_move = || Handle::try_current().is_ok_and(|handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread);
    if length >= LONG && can_move() { tokio::task::block_in_place(work) } else { work() }
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
            aside(LONG, || receiver.recv_timeout(Duration::from_secs(60)))
        });
        assert_eq!(on_the_worker.await.unwrap(), Ok("others"));
    }

    #[tokio::test]
    async fn on_a_single_thread_it_is_done_in_place() {
        assert_eq!(aside(LONG, || 7), 7);
    }
}
