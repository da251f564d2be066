//! Test mails. The program that wires the server provides the way to send one: pages and API make
//! no outgoing calls themselves.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use tokio::sync::Mutex;

type Sending = Pin<Box<dyn Future<Output = Result<String, String>> + Send>>;
type SendMail = dyn Fn(String) -> Sending + Send + Sync;

/// Sends test mails, one at a time. Clones share the lock.
#[derive(Clone, Default)]
pub struct TestMails {
    send: Option<Arc<SendMail>>,
    turn: Arc<Mutex<()>>,
}

impl TestMails {
    /// Sends test mails with `send`, which takes an address and returns the mail server's answer.
    pub fn new<F>(send: impl Fn(String) -> F + Send + Sync + 'static) -> TestMails
    where
        F: Future<Output = Result<String, String>> + Send + 'static,
    {
        TestMails { send: Some(Arc::new(move |to| Box::pin(send(to)))), turn: Arc::default() }
    }

    /// Sends one; `None` if this server cannot.
    pub(crate) async fn send(&self, to: String) -> Option<Result<String, String>> {
        let send = self.send.as_ref()?;
        let _turn = self.turn.lock().await;
        Some(send(to).await)
    }
}

impl fmt::Debug for TestMails {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TestMails")
    }
}
