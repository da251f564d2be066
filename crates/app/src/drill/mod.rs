//! A drill: a fake agent loops through the running server's real path until it is killed. The drill
//! watches every channel, reports what was delivered and when, and cleans up.

mod report;

use std::time::{Duration, Instant};

use fake_provider::{Behaviour, FakeProvider};
use http::{Method, Request, StatusCode, header};
use http_body_util::Full;
use model::CallId;
use serde::Deserialize;
use serde_json::{Value, json};
use web::Drills;

pub(crate) use self::report::{Line, lines, verdict};
use crate::client::alerts::{Channel, Delivery, channels};
use crate::client::{self, Client, Http};
use crate::data_dir::Addresses;
use crate::exit::{Exit, Failure};

/// The model of the drill. It costs nothing, so that a drill affects no bill and no budget.
pub(crate) const MODEL: &str = "agentgazer-drill";
/// More calls than the drill's settings need.
const MAX_CALLS: usize = 20;
/// Longer than the window of a digest.
const ALERTS_TIMEOUT: Duration = Duration::from_secs(75);
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Runs a drill through the proxy at `proxy` and removes all traces of it.
pub(crate) async fn rehearse(client: Client, http: Http, proxy: String) -> Result<DrillOutcome, Failure> {
    let provider = FakeProvider::start(0, Behaviour::text("I will try that again.")).await?;
    let name = format!("drill-{}", &CallId::new().to_string()[24..]);
    let key = client.change(Method::POST, "/api/agent-keys", &json!({"agent": name, "name": "drill"})).await?;
    let drill = Drill { client, http, proxy, name, key: client::read(&key)? };
    let outcome = drill.run(&provider.url()).await;
    drill.clean_up().await?;
    outcome
}

/// Drills for the dashboard of the server at `addresses`.
pub(crate) fn for_dashboard(addresses: Addresses) -> Drills {
    Drills::new(move |token| {
        let (trust, Addresses { proxy, dashboard, .. }) = (addresses.trust(), addresses.clone());
        async move {
            let client = Client::new(&dashboard, token, &trust).map_err(|failure| failure.error.to_string())?;
            let http = Http::new(&trust).map_err(|error| error.to_string())?;
            let outcome = rehearse(client, http, proxy).await.map_err(|failure| failure.error.to_string())?;
            Ok(report::for_dashboard(&outcome))
        }
    })
}

struct Drill {
    client: Client,
    http: Http,
    proxy: String,
    /// The name of the fake agent and of its provider.
    name: String,
    /// The key of the fake agent: the proxy may require one.
    key: Key,
}

/// A new agent key.
#[derive(Deserialize)]
struct Key {
    id: String,
    key: String,
}

/// The outcome of a drill.
pub(crate) struct DrillOutcome {
    pub(crate) calls: usize,
    pub(crate) killed_in: Duration,
    pub(crate) incident: String,
    pub(crate) activated: bool,
    pub(crate) channels: Vec<Channel>,
    pub(crate) deliveries: Vec<Delivery>,
    pub(crate) links: Links,
}

/// The base of links in alerts, from the server's status.
#[derive(Debug, Deserialize)]
pub(crate) struct Links {
    pub(crate) public_url: String,
    pub(crate) links_are_local: bool,
}

impl Drill {
    async fn run(&self, provider: &str) -> Result<DrillOutcome, Failure> {
        let Drill { client, name, .. } = self;
        let settings = json!({"base_url": provider, "format": "openai"});
        client.change(Method::PUT, &format!("/api/providers/{name}"), &settings).await?;
        // Every request counts: the drill does not test the detector.
        let settings = json!({
            "enabled": true, "window_size": 10, "threshold": 3, "action": "deactivate", "counting": "literal",
        });
        client.change(Method::PUT, &format!("/api/agents/{name}/kill-switch"), &settings).await?;

        let (calls, killed_in, incident) = self.loop_until_killed().await?;
        let deliveries = self.watch(&incident).await?;
        client.change(Method::PATCH, &format!("/api/agents/{name}"), &json!({"active": true})).await?;
        let activated = self.call().await?.is_none();
        let links = client::read(&client.get("/api/status").await?)?;
        Ok(DrillOutcome { calls, killed_in, incident, activated, channels: channels(client).await?, deliveries, links })
    }

    /// Repeats the same request.
    async fn loop_until_killed(&self) -> Result<(usize, Duration, String), Failure> {
        for calls in 1..=MAX_CALLS {
            let began = Instant::now();
            if let Some(incident) = self.call().await? {
                return Ok((calls, began.elapsed(), incident));
            }
        }
        Err(Failure::new(Exit::Failed, format!("{MAX_CALLS} identical calls were not stopped")))
    }

    /// Makes one call; returns the incident if it was refused.
    async fn call(&self) -> Result<Option<String>, Failure> {
        let Drill { proxy, name, .. } = self;
        let body = json!({"model": MODEL, "messages": [{"role": "user", "content": "This is a drill."}]});
        let request = Request::post(format!("{proxy}/agents/{name}/{name}/v1/chat/completions"))
            .header(header::CONTENT_TYPE, "application/json")
            .header("x-api-key", &self.key.key)
            // The provider has no stored key, and an agent key is not sent to it.
            .header(header::AUTHORIZATION, "Bearer drill")
            .body(Full::from(body.to_string()))?;
        let response = self.http.send(request).await.map_err(|error| unreachable(proxy, &error))?;
        if response.status() == StatusCode::NOT_FOUND || response.status() == StatusCode::MISDIRECTED_REQUEST {
            let message = format!("the proxy at {proxy} does not take the drill's calls ({})", response.status());
            return Err(Failure::new(Exit::Refused, message));
        }
        let refused = response.headers().contains_key("x-agentgazer-blocked");
        let body: Value = serde_json::from_slice(response.body()).unwrap_or_default();
        Ok(body["incident_id"].as_str().filter(|_| refused).map(str::to_owned))
    }

    /// The deliveries of the incident, once every channel was tried.
    async fn watch(&self, incident: &str) -> Result<Vec<Delivery>, Failure> {
        let end = Instant::now() + ALERTS_TIMEOUT;
        loop {
            let mut deliveries = Vec::new();
            for item in self.client.list("/api/alert-history", &format!("&incident={incident}")).await? {
                let delivery: Delivery = client::read(item.get())?;
                deliveries.push(self.delivery_or_digest(delivery).await?);
            }
            let waiting = |delivery: &Delivery| delivery.state == "queued" && delivery.attempts.is_empty();
            if !deliveries.iter().any(waiting) || Instant::now() >= end {
                return Ok(deliveries);
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// The delivery, or the digest that contains it.
    async fn delivery_or_digest(&self, delivery: Delivery) -> Result<Delivery, Failure> {
        let Some(digest) = &delivery.digest_id else { return Ok(delivery) };
        let digest: Delivery = client::read(&self.client.get(&format!("/api/alert-history/{digest}")).await?)?;
        Ok(Delivery { state: digest.state, attempts: digest.attempts, reason: digest.reason, ..delivery })
    }

    /// Removes the agent with all its data, its provider and its key.
    async fn clean_up(&self) -> Result<(), Failure> {
        let Drill { name, key, .. } = self;
        let paths =
            [format!("/api/agents/{name}"), format!("/api/providers/{name}"), format!("/api/agent-keys/{}", key.id)];
        for path in paths {
            match self.client.change(Method::DELETE, &path, &json!({})).await {
                Err(failure) if failure.exit != Exit::NotFound => return Err(failure),
                _ => {}
            }
        }
        Ok(())
    }
}

/// Why the proxy cannot be called. With `tls.client_ca` it ends the connection of a client without
/// a certificate.
fn unreachable(proxy: &str, error: &anyhow::Error) -> Failure {
    let cause = error.root_cause();
    let asks = cause.downcast_ref::<rustls::Error>().is_some_and(|error| {
        matches!(error, rustls::Error::AlertReceived(alert) if *alert == rustls::AlertDescription::CertificateRequired)
    });
    let hint = match asks || cause.to_string().contains("CertificateRequired") {
        true => ". It asks for a client certificate: run `agentgazer drill --client-cert FILE --client-key FILE`",
        false => "",
    };
    Failure::new(Exit::Unreachable, format!("the proxy at {proxy} does not answer: {cause}{hint}"))
}
