//! Who has access and what they may do, and what the audit log records of it.

mod audit;
mod roles;
mod tokens;
mod users;

use axum::body::Body;
use axum::http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::pages::Browser;
use crate::server::{Answer, Server, form, request};

pub(crate) const PASSWORD: &str = "canary-password-77aa";

impl Server {
    /// Makes an API token and returns its id and text.
    pub(crate) async fn api_token(&self, name: &str, role: &str) -> (String, String) {
        let answer = self.ask(Method::POST, "/api/tokens", Some(json!({"name": name, "role": role}))).await;
        assert_eq!(answer.status, StatusCode::CREATED, "{}", answer.text);
        let made = answer.json();
        (made["id"].as_str().unwrap().to_owned(), made["token"].as_str().unwrap().to_owned())
    }

    /// Adds a user with [`PASSWORD`] and returns its id.
    pub(crate) async fn user(&self, name: &str, role: &str) -> String {
        let body = json!({"name": name, "role": role, "password": PASSWORD});
        let answer = self.ask(Method::POST, "/api/users", Some(body)).await;
        assert_eq!(answer.status, StatusCode::CREATED, "{}", answer.text);
        answer.json()["id"].as_str().unwrap().to_owned()
    }

    /// Makes a request with `token`.
    pub(crate) async fn ask_as(&self, token: &str, method: Method, path: &str, body: Option<Value>) -> Answer {
        let request = request(method, path).header("authorization", format!("Bearer {token}"));
        let request = match body {
            Some(body) => request.header("content-type", "application/json").body(body.to_string().into()),
            None => request.body(Body::empty()),
        };
        self.send(request.unwrap()).await
    }
}

/// A browser in which a user with [`PASSWORD`] is logged in.
pub(crate) async fn log_in<'a>(server: &'a Server, name: &str) -> Browser<'a> {
    let answer = server.send(form("/login", &format!("name={name}&password={PASSWORD}"))).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.text);
    Browser { server, cookie: answer.header("set-cookie").split(';').next().unwrap().to_owned() }
}
