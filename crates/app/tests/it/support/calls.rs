//! The calls of simulated agents.

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use serde_json::{Value, json};

use super::{Answer, Http};

/// An agent that speaks to the proxy.
#[derive(Clone)]
pub(crate) struct Agent {
    pub(crate) name: String,
    proxy: String,
    http: Http,
}

impl Agent {
    pub(crate) fn new(name: &str, proxy: &str, http: Http) -> Agent {
        Agent { name: name.to_owned(), proxy: proxy.to_owned(), http }
    }

    /// Sends a Chat Completions request.
    pub(crate) async fn chat(&self, body: &Value) -> Answer {
        self.try_chat(body).await.unwrap()
    }

    /// Sends a Chat Completions request; the server may be gone.
    pub(crate) async fn try_chat(&self, body: &Value) -> Result<Answer, String> {
        self.post("openai/v1/chat/completions", body).await
    }

    /// Sends an Anthropic Messages request.
    pub(crate) async fn messages(&self, body: &Value) -> Answer {
        self.post("anthropic/v1/messages", body).await.unwrap()
    }

    /// Asks one question that has no history.
    pub(crate) async fn ask(&self, question: &str) -> Answer {
        self.chat(&openai_request(question)).await
    }

    /// Sends JSON to a path below the agent.
    pub(crate) async fn post(&self, path: &str, body: &Value) -> Result<Answer, String> {
        let request = Request::post(format!("{}/agents/{}/{path}", self.proxy, self.name))
            .header("content-type", "application/json")
            .header("authorization", "Bearer sk-client")
            .body(Full::new(Bytes::from(body.to_string())));
        self.http.send(request.unwrap()).await
    }
}

/// A Chat Completions request with one user message.
pub(crate) fn openai_request(question: &str) -> Value {
    json!({"model": "gpt-test", "messages": [{"role": "user", "content": question}]})
}

/// A Messages request with one user message.
pub(crate) fn messages_request(question: &str) -> Value {
    json!({"model": "claude-test", "max_tokens": 64, "messages": [{"role": "user", "content": question}]})
}
