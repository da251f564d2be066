//! `drill`: a fake agent loops through the running server's real path until it is killed. The drill
//! watches every channel, reports what was delivered and when, and cleans up.

use std::time::{Duration, Instant};

use http::{Method, Request, StatusCode, header};
use http_body_util::Full;
use model::CallId;
use serde::Deserialize;
use serde_json::{Value, json};
use web::{DrillLine, DrillReport, Drills};

use crate::cli::DrillArgs;
use crate::client::{self, Client, Http};
use crate::commands::alerts::{Channel, Delivery, channels};
use crate::commands::{client, on_one_thread, print, trust};
use crate::data_dir::Addresses;
use crate::exit::{Exit, Failure};
use crate::text;
use crate::tls::{ClientIdentity, Trust};
use fake_provider::{Behaviour, FakeProvider};

/// The model of the drill. It costs nothing, so that a drill affects no bill and no budget.
pub(crate) const MODEL: &str = "agentgazer-drill";
/// More calls than the drill's settings need.
const MAX_CALLS: usize = 20;
/// Longer than the window of a digest.
const PATIENCE: Duration = Duration::from_secs(75);
const LOOK: Duration = Duration::from_millis(100);

/// `drill`.
pub fn drill(args: &DrillArgs) -> Result<(), Failure> {
    on_one_thread(async {
        let client = client(&args.server)?;
        let (proxy, trust) = proxy_url(args)?;
        let files = args.client_cert.as_deref().zip(args.client_key.as_deref());
        let identity = files.map(|(certificate, key)| ClientIdentity { certificate, key });
        let http = Http::with_identity(&trust, identity).map_err(|error| Failure { exit: Exit::Usage, error })?;
        report(&rehearse(client, http, proxy).await?, args.server.json)
    })
}

/// Runs a drill through the proxy at `proxy` and removes all traces of it.
async fn rehearse(client: Client, http: Http, proxy: String) -> Result<Held, Failure> {
    let provider = FakeProvider::start(0, Behaviour::text("I will try that again.")).await?;
    let name = format!("drill-{}", &CallId::new().to_string()[24..]);
    let key = client.change(Method::POST, "/api/agent-keys", &json!({"agent": name, "name": "drill"})).await?;
    let drill = Drill { client, http, proxy, name, key: client::read(&key)? };
    let held = drill.run(&provider.url()).await;
    drill.clean_up().await?;
    held
}

/// Drills for the dashboard of the server at `addresses`.
pub(crate) fn for_dashboard(addresses: Addresses) -> Drills {
    Drills::new(move |token| {
        let (trust, Addresses { proxy, dashboard, .. }) = (addresses.trust(), addresses.clone());
        async move {
            let client = Client::new(&dashboard, token, &trust).map_err(|failure| failure.error.to_string())?;
            let http = Http::new(&trust).map_err(|error| error.to_string())?;
            let held = rehearse(client, http, proxy).await.map_err(|failure| failure.error.to_string())?;
            Ok(dashboard_report(&held))
        }
    })
}

fn dashboard_report(held: &Held) -> DrillReport {
    let lines = lines(held);
    let failure = verdict(&lines, held.activated).err().map(|failure| failure.error.to_string());
    let line = |line: Line| DrillLine {
        is_delivered: line.state == "delivered",
        channel: line.channel,
        kind: line.kind,
        state: line.state,
        after_ms: line.after_ms,
        answer: line.answer,
    };
    DrillReport {
        calls: held.calls,
        killed_in_ms: held.killed_in.as_millis() as u64,
        activated: held.activated,
        channels: lines.into_iter().map(line).collect(),
        failure,
    }
}

/// The proxy's address and the certificates to trust there.
fn proxy_url(args: &DrillArgs) -> Result<(String, Trust), Failure> {
    if let Some(url) = &args.proxy_url {
        return Ok((url.trim_end_matches('/').to_owned(), trust(&args.server, None)));
    }
    let config = crate::commands::resolve_for_client(&args.server)?;
    let addresses = Addresses::read(&config.data_dir);
    let trust = trust(&args.server, addresses.as_ref());
    addresses.map(|addresses| (addresses.proxy, trust)).ok_or_else(|| {
        let why = "no server was started on this data directory: say where its proxy is with --proxy-url";
        Failure::new(Exit::Unreachable, why)
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
struct Held {
    calls: usize,
    killed_in: Duration,
    incident: String,
    activated: bool,
    channels: Vec<Channel>,
    deliveries: Vec<Delivery>,
    links: Links,
}

/// The base of links in alerts, from the server's status.
#[derive(Debug, Deserialize)]
struct Links {
    public_url: String,
    links_are_local: bool,
}

impl Drill {
    async fn run(&self, provider: &str) -> Result<Held, Failure> {
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
        Ok(Held { calls, killed_in, incident, activated, channels: channels(client).await?, deliveries, links })
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
            let said = format!("the proxy at {proxy} does not take the drill's calls ({})", response.status());
            return Err(Failure::new(Exit::Refused, said));
        }
        let refused = response.headers().contains_key("x-agentgazer-blocked");
        let body: Value = serde_json::from_slice(response.body()).unwrap_or_default();
        Ok(body["incident_id"].as_str().filter(|_| refused).map(str::to_owned))
    }

    /// The deliveries of the incident, once every channel was tried.
    async fn watch(&self, incident: &str) -> Result<Vec<Delivery>, Failure> {
        let end = Instant::now() + PATIENCE;
        loop {
            let mut deliveries = Vec::new();
            for item in self.client.list("/api/alert-history", &format!("&incident={incident}")).await? {
                let delivery: Delivery = client::read(item.get())?;
                deliveries.push(self.followed(delivery).await?);
            }
            let waiting = |delivery: &Delivery| delivery.state == "queued" && delivery.attempts.is_empty();
            if !deliveries.iter().any(waiting) || Instant::now() >= end {
                return Ok(deliveries);
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// The delivery, or the digest that contains it.
    async fn followed(&self, delivery: Delivery) -> Result<Delivery, Failure> {
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

/// One line of the report.
#[derive(Debug, Deserialize, serde::Serialize, PartialEq)]
struct Line {
    channel: String,
    kind: String,
    state: String,
    /// From the kill to the target's answer.
    after_ms: Option<u64>,
    answer: String,
}

const IS_OFF: &str = "it is off";

fn lines(held: &Held) -> Vec<Line> {
    let told = held.deliveries.iter().map(|delivery| {
        let last = delivery.attempts.last();
        let state =
            if delivery.state == "queued" && last.is_some() { "failed, to be tried again" } else { &delivery.state };
        let answer = last.map(crate::commands::alerts::Attempt::words).or_else(|| delivery.reason.clone());
        Line {
            channel: delivery.channel.clone(),
            kind: delivery.kind.clone(),
            state: state.to_owned(),
            after_ms: last.map(|attempt| attempt.timestamp.millis_since(delivery.timestamp) + attempt.took_ms),
            answer: answer.unwrap_or_else(|| "still waiting".to_owned()),
        }
    });
    let untold = held.channels.iter().filter(|channel| !held.deliveries.iter().any(|it| it.channel == channel.name));
    let untold = untold.map(|channel| Line {
        channel: channel.name.clone(),
        kind: channel.kind.clone(),
        state: "not told".to_owned(),
        after_ms: None,
        answer: if channel.enabled { "no rule says so" } else { IS_OFF }.to_owned(),
    });
    told.chain(untold).collect()
}

fn report(held: &Held, as_json: bool) -> Result<(), Failure> {
    let lines = lines(held);
    let Held { calls, killed_in, incident, activated, links, .. } = held;
    if as_json {
        let report = json!({
            "calls": calls, "killed_in_ms": killed_in.as_millis() as u64, "incident_id": incident, "activated": activated,
            "channels": lines, "public_url": links.public_url, "links_are_local": links.links_are_local,
        });
        print::json(&report.to_string())?;
    } else {
        print::line(&format!("killed      at call {calls}, answered in {:.0} ms", killed_in.as_secs_f64() * 1000.0))?;
        print::line(&format!("incident    {}", text::printable(incident)))?;
        let rows = lines.iter().map(row).collect();
        print::table(&["CHANNEL", "KIND", "STATE", "AFTER", "ANSWER"], rows, "No channels: nobody was told.")?;
        print::line(if *activated {
            "activated   its calls went through again; the drill's agent is gone"
        } else {
            "NOT activated"
        })?;
        if links.links_are_local {
            print::line(&format!(
                "links       lead to {}, which only this machine can open: set public_url (AGENTGAZER_PUBLIC_URL)",
                text::printable(&links.public_url)
            ))?;
        }
    }
    verdict(&lines, *activated)
}

fn row(line: &Line) -> Vec<String> {
    let after = line.after_ms.map(|ms| format!("{ms} ms")).unwrap_or_default();
    vec![line.channel.clone(), line.kind.clone(), line.state.clone(), after, text::shortened(&line.answer, 60)]
}

/// Fails if no channel was reached, or not every one that should be.
fn verdict(lines: &[Line], activated: bool) -> Result<(), Failure> {
    let failed = |why: String| Err(Failure::new(Exit::Failed, why));
    let told: Vec<_> = lines.iter().filter(|line| line.state != "not told").collect();
    let missed: Vec<_> =
        told.iter().filter(|line| line.state != "delivered").map(|line| line.channel.as_str()).collect();
    if !activated {
        return failed("the agent could not be activated again".to_owned());
    }
    if told.is_empty() {
        return failed(format!("the kill works, but nobody would be told: {}", what_is_missing(lines)));
    }
    if !missed.is_empty() {
        return failed(format!("not reached: {}", missed.join(", ")));
    }
    Ok(())
}

/// Why none of these channels was notified, and what to do. Without any rule, all enabled channels
/// would have been.
fn what_is_missing(untold: &[Line]) -> &'static str {
    match untold {
        [] => "add a channel",
        channels if channels.iter().all(|channel| channel.answer == IS_OFF) => "all channels are off, switch one on",
        _ => {
            "no kill_switch rule for all agents (*) that is on leads to a channel that is on; change one, or delete them \
             all: then every kill goes to every channel"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drill_fails_unless_every_channel_is_reached() {
        let line = |channel: &str, state: &str| Line {
            channel: channel.to_owned(),
            kind: "webhook".to_owned(),
            state: state.to_owned(),
            after_ms: None,
            answer: String::new(),
        };
        let said = |lines: &[Line]| verdict(lines, true).err().map(|failure| failure.error.to_string());
        assert_eq!(said(&[line("a", "delivered"), line("b", "not told")]), None);
        assert_eq!(said(&[line("a", "delivered"), line("b", "failed")]).as_deref(), Some("not reached: b"));
        let nobody = |answers: &[&str]| {
            let untold = |answer: &&str| Line { answer: (*answer).to_owned(), ..line("b", "not told") };
            said(&answers.iter().map(untold).collect::<Vec<_>>()).unwrap_or_default()
        };
        assert!(nobody(&[]).ends_with("nobody would be told: add a channel"));
        assert!(nobody(&[IS_OFF, IS_OFF]).ends_with("all channels are off, switch one on"));
        assert!(nobody(&[IS_OFF, "no rule says so"]).contains("no kill_switch rule for all agents (*) that is on"));
        assert!(verdict(&[line("a", "delivered")], false).is_err());
    }
}
