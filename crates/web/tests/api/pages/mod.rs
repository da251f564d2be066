//! The dashboard: the content of its pages and the effect of their forms, without a browser.

mod actions;
mod alerts;
mod live;
mod login;
mod looks;
mod needs;
mod policy;
mod safety;
mod search;
mod selected;
mod settings;
mod words;

use axum::body::Body;
use axum::http::{Method, StatusCode};

use crate::server::{Answer, Server, request};

/// A browser that is logged in.
pub(crate) struct Browser<'a> {
    pub(crate) server: &'a Server,
    pub(crate) cookie: String,
}

impl<'a> Browser<'a> {
    pub(crate) async fn new(server: &'a Server) -> Browser<'a> {
        Browser { cookie: server.log_in().await, server }
    }

    /// A page, whatever its status.
    pub(crate) async fn get(&self, path: &str) -> Answer {
        let request = request(Method::GET, path).header("cookie", &self.cookie);
        self.server.send(request.body(Body::empty()).unwrap()).await
    }

    /// The text of a page that must exist.
    pub(crate) async fn page(&self, path: &str) -> String {
        let answer = self.get(path).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}: {}", answer.text);
        answer.text
    }

    /// Sends a form, as our own page would.
    pub(crate) async fn post(&self, path: &str, fields: &str) -> Answer {
        self.post_from(Some("http://127.0.0.1:18880"), path, fields).await
    }

    /// Sends a form from a page of `origin`.
    pub(crate) async fn post_from(&self, origin: Option<&str>, path: &str, fields: &str) -> Answer {
        let mut request = request(Method::POST, path)
            .header("cookie", &self.cookie)
            .header("content-type", "application/x-www-form-urlencoded");
        if let Some(origin) = origin {
            request = request.header("origin", origin);
        }
        self.server.send(request.body(Body::from(fields.to_owned())).unwrap()).await
    }

    /// Sends a form that must redirect to `target`.
    pub(crate) async fn submit(&self, path: &str, fields: &str, target: &str) {
        let answer = self.post(path, fields).await;
        assert_eq!((answer.status, answer.header("location")), (StatusCode::SEE_OTHER, target), "{}", answer.text);
    }
}
