//! A server as a child process, a client for it, and simulated agents.

mod calls;
mod command;
mod http;
mod mail;
#[path = "../../../../store/tests/contract/postgres_server.rs"]
pub(crate) mod postgres_server;
mod receiver;
mod server;
mod skip;

pub(crate) use calls::{Agent, messages_request, openai_request};
pub(crate) use command::{Run, agentgazer, run};
pub(crate) use http::{Answer, Http};
pub(crate) use mail::MailServer;
pub(crate) use receiver::{Received, Receiver};
pub(crate) use server::{Server, ServerBuilder};
pub(crate) use skip::{skip_without_root, skip_without_sqlite, wants_postgres};

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use fake_provider::{Behaviour, FakeProvider};

/// A PostgreSQL that all tests of the process share.
pub(crate) static POSTGRES: LazyLock<postgres_server::PostgresServer> =
    LazyLock::new(postgres_server::PostgresServer::start);

/// A provider with one answer for everything.
pub(crate) async fn provider() -> FakeProvider {
    FakeProvider::start(0, Behaviour::text("The import fails because the column is missing.")).await.unwrap()
}

/// A slow provider.
pub(crate) async fn slow_provider() -> FakeProvider {
    let behaviour = Behaviour { delay: Duration::from_millis(500), ..Behaviour::text("It takes its time.") };
    FakeProvider::start(0, behaviour).await.unwrap()
}

/// The number of requests it got.
pub(crate) fn requests(provider: &FakeProvider) -> u64 {
    provider.seen().counts().requests
}

/// Polls `question` until it answers; for events that cannot be awaited.
pub(crate) async fn eventually<T, F>(what: &str, mut question: impl FnMut() -> F) -> T
where
    F: Future<Output = Option<T>>,
{
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        if let Some(answer) = question().await {
            return answer;
        }
        assert!(Instant::now() < end, "{what}: still not so after a minute");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
