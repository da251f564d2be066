//! A change on its way to the writer. The caller waits a few seconds at most; a change that was
//! given up is never made later.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use model::Cause;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use crate::{Change, Changed, StoreError};

const WAITING: u8 = 0;
const CLAIMED: u8 = 1;
const GIVEN_UP: u8 = 2;

/// A request to the writer beside the inbox.
#[derive(Debug)]
pub(crate) enum Request {
    /// A change.
    Change(ChangeRequest),
    /// Write everything received so far at once.
    CatchUp(oneshot::Sender<()>),
    /// Write everything and end.
    Stop(oneshot::Sender<bool>),
}

/// A change and the channel for its answer.
#[derive(Debug)]
pub(crate) struct ChangeRequest {
    pub(crate) change: Change,
    /// The actor; `None` if the program itself makes the change.
    pub(crate) cause: Option<Arc<Cause>>,
    reply: oneshot::Sender<Result<Changed, StoreError>>,
    state: Arc<AtomicU8>,
    deadline: Instant,
}

impl ChangeRequest {
    /// Claims the right to make the change. `false` if it was given up.
    pub(crate) fn claim(&self) -> bool {
        self.state.compare_exchange(WAITING, CLAIMED, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Gives that right back, to retry later; returns the request unless its time is over.
    pub(crate) fn release(self, trouble: &str) -> Option<ChangeRequest> {
        if Instant::now() >= self.deadline {
            self.answer(Err(StoreError::Unavailable(trouble.to_owned())));
            return None;
        }
        self.state.store(WAITING, Ordering::Release);
        Some(self)
    }

    /// Sends the result.
    pub(crate) fn answer(self, result: Result<Changed, StoreError>) {
        // The caller may be gone; the change stands.
        let _ = self.reply.send(result);
    }
}

/// Sends `change` to the writer and waits for the result, at most `limit` until it is begun.
pub(crate) async fn send(
    requests: &mpsc::UnboundedSender<Request>,
    (change, cause): (Change, Option<Arc<Cause>>),
    limit: Duration,
) -> Result<Changed, StoreError> {
    let (reply, mut answer) = oneshot::channel();
    let state = Arc::new(AtomicU8::new(WAITING));
    let deadline = Instant::now() + limit;
    let request = ChangeRequest { change, cause, reply, state: Arc::clone(&state), deadline };
    requests.send(Request::Change(request)).map_err(|_| stopped())?;
    let answered = match tokio::time::timeout_at(deadline, &mut answer).await {
        Ok(answered) => answered,
        Err(_) if state.compare_exchange(WAITING, GIVEN_UP, Ordering::AcqRel, Ordering::Acquire).is_ok() => {
            return Err(StoreError::Unavailable("the change could not be written in time".to_owned()));
        }
        // The writer has begun: only it knows the result.
        Err(_) => answer.await,
    };
    answered.unwrap_or_else(|_| Err(stopped()))
}

fn stopped() -> StoreError {
    StoreError::Unavailable("the recorder has stopped".to_owned())
}
