//! A server as a child process, a client that speaks to it, and the calls of simulated agents.

mod calls;
mod command;
mod http;
mod mail;
mod receiver;
mod root;
mod server;

pub(crate) use calls::{Agent, messages_request, openai_request};
pub(crate) use command::{Run, agentgazer, run};
pub(crate) use http::{Answer, Http};
pub(crate) use mail::MailServer;
pub(crate) use receiver::{Received, Receiver};
pub(crate) use root::skip_without_root;
pub(crate) use server::{Server, ServerBuilder};

use std::time::{Duration, Instant};

use fake_provider::{Behaviour, FakeProvider};

/// A provider that gives the same answer to everything.
pub(crate) async fn provider() -> FakeProvider {
    FakeProvider::start(0, Behaviour::text("The import fails because the column is missing.")).await.unwrap()
}

/// One that takes its time.
pub(crate) async fn slow_provider() -> FakeProvider {
    let behaviour = Behaviour { delay: Duration::from_millis(500), ..Behaviour::text("It takes its time.") };
    FakeProvider::start(0, behaviour).await.unwrap()
}

/// How many requests it saw.
pub(crate) fn requests(provider: &FakeProvider) -> u64 {
    provider.seen().counts().requests
}

/// Asks `question` until it answers; the event it waits for has no other way to be heard of.
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
