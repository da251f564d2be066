//! Drills that the dashboard runs. The program that wires the server provides the way to run one,
//! because only it has the fake provider and the proxy.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use secrecy::SecretString;
use tokio::sync::Mutex;

type Running = Pin<Box<dyn Future<Output = Result<DrillReport, String>> + Send>>;
type Run = dyn Fn(SecretString) -> Running + Send + Sync;

/// Runs drills, one at a time. Clones share the lock.
#[derive(Clone, Default)]
pub struct Drills {
    run: Option<Arc<Run>>,
    turn: Arc<Mutex<()>>,
}

/// The result of a drill.
#[derive(Clone, Debug)]
pub struct DrillReport {
    /// The call that was stopped.
    pub calls: usize,
    /// How long its refusal took.
    pub killed_in_ms: u64,
    /// Whether the agent's calls went through again afterwards.
    pub activated: bool,
    /// Every channel.
    pub channels: Vec<DrillLine>,
    /// What is wrong: who was not reached, or that no one was notified.
    pub failure: Option<String>,
}

/// The outcome of the alert to one channel.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct DrillLine {
    pub channel: String,
    pub kind: String,
    pub state: String,
    pub is_delivered: bool,
    /// From the kill to the channel's answer.
    pub after_ms: Option<u64>,
    pub answer: String,
}

impl Drills {
    /// Drills that `run` runs, with the token that the API asks for.
    pub fn new<F>(run: impl Fn(SecretString) -> F + Send + Sync + 'static) -> Drills
    where
        F: Future<Output = Result<DrillReport, String>> + Send + 'static,
    {
        Drills { run: Some(Arc::new(move |token| Box::pin(run(token)))), turn: Arc::default() }
    }

    /// Runs one; `None` if this server has none.
    pub(crate) async fn run(&self, token: SecretString) -> Option<Result<DrillReport, String>> {
        let run = self.run.as_ref()?;
        let _turn = self.turn.lock().await;
        Some(run(token).await)
    }
}

impl fmt::Debug for Drills {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Drills")
    }
}
