//! `demo`: the real server with the built-in provider and three agents that make real calls. One of
//! them is stuck; the terminal shows how its score rises until it is stopped, while the other two
//! continue.

mod agents;
mod transcript;

use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use secrecy::ExposeSecret;
use serde::Deserialize;

use crate::cli::DemoArgs;
use crate::client::{self, Client, Http};
use crate::config;
use crate::config::{Config, Entry};
use crate::exit::{Exit, Failure};
use crate::log;
use crate::print;
use crate::runtime::on_all_cores;
use crate::server::Server;
use crate::signals::Signals;
use crate::text;
use agents::DemoAgent;
use fake_provider::FakeProvider;
use transcript::Transcript;

/// The rounds of calls: enough for the stuck agent to be stopped and for the others to continue.
const ROUNDS: usize = 9;
/// The pause between two calls, so that a person can follow.
const PAUSE: Duration = Duration::from_millis(220);
/// The demo's own agents are the only callers.
const DRAIN: Duration = Duration::from_secs(2);

/// `demo`.
pub fn demo(args: &DemoArgs) -> Result<(), Failure> {
    on_all_cores(Box::pin(run(args)))
}

async fn run(args: &DemoArgs) -> Result<(), Failure> {
    let mut signals = Signals::listen()?;
    let mut directory = tempfile::Builder::new();
    #[cfg(unix)]
    directory.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    let directory = directory.prefix("agentgazer-demo-").tempdir()?;
    let provider = FakeProvider::start(0, agents::script()).await?;
    let config = settings(args, directory.path(), &provider.url())?;
    log::start(&config.log);
    let server = Server::start(&config).await?;

    let told = tokio::select! {
        told = Box::pin(run_agents(&server, &provider)) => Some(told),
        _ = signals.next() => None,
    };
    if !args.once && matches!(told, Some(Ok(_))) {
        print::line(&while_it_runs(&config))?;
        signals.next().await;
    }
    signals.exit_at_once();
    server.stop(DRAIN).await?;
    match told.transpose()? {
        Some(stopped) if stopped != [agents::STUCK] => Err(Failure::new(
            Exit::Failed,
            format!("exactly {} should have been stopped, but it was {stopped:?}", agents::STUCK),
        )),
        _ => Ok(()),
    }
}

/// Free ports, a temporary data directory, the kill switch on for all; flags override this.
fn settings(args: &DemoArgs, directory: &Path, provider: &str) -> Result<Config, Failure> {
    let directory = directory.to_string_lossy();
    let ours = [
        ("port", "0"),
        ("proxy_port", "0"),
        ("data_dir", &*directory),
        ("log.level", "warn"),
        ("kill_switch.enabled", "true"),
    ];
    let mut entries: Vec<Entry> = ours.into_iter().map(|(key, value)| Entry::flag("demo", key, value)).collect();
    entries.extend(args.settings.entries());
    let providers = ["openai", "anthropic"].map(|name| format!("{name}={provider}"));
    entries.extend(providers.iter().map(|provider| Entry::flag("demo", "providers", provider)));
    config::load_for_server(args.settings.config.clone(), entries)
}

/// The next steps. The command in the refusal is for the user's own server; this one is for the
/// demo's.
fn while_it_runs(config: &Config) -> String {
    let program = std::env::args().next().unwrap_or_else(|| "agentgazer".to_owned());
    let place = std::path::absolute(&config.data_dir).unwrap_or_else(|_| config.data_dir.clone());
    let place = text::shell_word(&place.to_string_lossy());
    let token = config.token.as_ref().map(|token| format!(" --token {}", text::shell_word(token.expose_secret())));
    format!(
        "Let {stuck} go on, from another terminal:\n  {program} activate {stuck} --data-dir {place}{token}\n\
         The server keeps running: Ctrl-C ends the demo.",
        stuck = agents::STUCK,
        program = text::shell_word(&program),
        token = token.unwrap_or_default(),
    )
}

/// Runs the story and returns the stopped agents.
async fn run_agents(server: &Server, provider: &FakeProvider) -> Result<Vec<String>, Failure> {
    let trust = server.addresses().trust();
    let http = Http::new(&trust)?;
    let mut agents = DemoAgent::agents();
    let mut transcript = Transcript::begin(server.proxy_url())?;
    for _ in 0..ROUNDS {
        for agent in agents.iter_mut().filter(|agent| !agent.has_given_up()) {
            let outcome = agent.call(&http, server.proxy_url()).await?;
            transcript.line(agent, &outcome)?;
            tokio::time::sleep(PAUSE).await;
        }
    }
    let client = Client::new(server.dashboard_url(), server.token().clone(), &trust)?;
    transcript.end(&agents, &incidents(&client).await?, provider.seen().counts().requests, server)?;
    stopped(&client).await
}

/// The fields of an incident that the story shows.
#[derive(Debug, Deserialize)]
struct Incident {
    id: String,
    agent_id: String,
    score: f64,
    threshold: f64,
    evidence_count: u64,
}

async fn incidents(client: &Client) -> Result<Vec<Incident>, Failure> {
    let items = client.list("/api/incidents", "").await?;
    items.iter().map(|item| client::read(item.get())).collect()
}

/// The agents that are inactive.
async fn stopped(client: &Client) -> Result<Vec<String>, Failure> {
    #[derive(Deserialize)]
    struct Agent {
        agent_id: String,
        active: bool,
    }
    let items = client.list("/api/agents", "").await.map_err(|failure| failure.error).context("the agents")?;
    let agents: Vec<Agent> = items.iter().map(|item| client::read(item.get())).collect::<Result<_, Failure>>()?;
    Ok(agents.into_iter().filter(|agent| !agent.active).map(|agent| agent.agent_id).collect())
}
