//! The real binary as a child process.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::Method;
use serde_json::Value;
use tempfile::TempDir;

use super::command::agentgazer;
use super::{Agent, Answer, Http, Run, eventually, run, wants_postgres};

/// The token of every server under test.
const TOKEN: &str = "integration-test-token";

/// The settings of a server to start.
#[derive(Clone)]
pub(crate) struct ServerBuilder {
    provider: String,
    data: Data,
    /// The operator's token; without one the server generates it.
    token: Option<&'static str>,
    /// The port of the dashboard; `0` picks a free one.
    port: String,
    arguments: Vec<String>,
    /// Where detection panics.
    fault: Option<&'static str>,
    /// How far the clock of its machine is from that of others.
    clock: Option<&'static str>,
    /// A client that trusts the server's certificate.
    http: Option<Http>,
    /// The database, if `TEST_DATABASE=postgres` selects another one than SQLite.
    database: Option<String>,
}

/// A data directory that is removed with its last user, or one that belongs to the test.
#[derive(Clone)]
enum Data {
    Own(Arc<TempDir>),
    Given(PathBuf),
}

impl Data {
    fn path(&self) -> &Path {
        match self {
            Data::Own(folder) => folder.path(),
            Data::Given(path) => path,
        }
    }
}

impl ServerBuilder {
    /// A server in front of the provider at `provider_url`, for both formats.
    pub(crate) fn new(provider_url: &str) -> ServerBuilder {
        let data = Data::Own(Arc::new(tempfile::tempdir().unwrap()));
        let (token, arguments) = (Some(TOKEN), Vec::new());
        let (provider, port) = (provider_url.to_owned(), "0".to_owned());
        let database = wants_postgres().then(|| super::POSTGRES.create_database());
        ServerBuilder { provider, data, token, port, arguments, fault: None, clock: None, http: None, database }
    }

    /// With its own client.
    pub(crate) fn http(mut self, http: Http) -> Self {
        self.http = Some(http);
        self
    }

    /// With a generated token.
    pub(crate) fn without_token(mut self) -> Self {
        self.token = None;
        self
    }

    /// With this token of the operator.
    pub(crate) fn token(mut self, token: &'static str) -> Self {
        self.token = Some(token);
        self
    }

    /// With its dashboard on this port.
    pub(crate) fn port(mut self, port: &str) -> Self {
        self.port = port.to_owned();
        self
    }

    /// With more flags.
    pub(crate) fn arguments(mut self, arguments: &[&str]) -> Self {
        self.arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        self
    }

    /// With detection that panics at `place`.
    pub(crate) fn fault(mut self, place: &'static str) -> Self {
        self.fault = Some(place);
        self
    }

    /// On a machine whose clock is ahead (`+26h`) or behind.
    pub(crate) fn clock(mut self, offset: &'static str) -> Self {
        self.clock = Some(offset);
        self
    }

    /// With its data in `path`.
    pub(crate) fn data_dir(mut self, path: &Path) -> Self {
        self.data = Data::Given(path.to_owned());
        self
    }

    /// Runs a command that opens the data itself.
    pub(crate) fn run_on_data(&self, arguments: &[&str]) -> Run {
        let mut command = agentgazer();
        command.envs(self.database.as_ref().map(|database| ("AGENTGAZER_DATABASE", database)));
        command.args(arguments).arg("--data-dir").arg(self.data_path()).output().unwrap().into()
    }

    /// The path of its data.
    pub(crate) fn data_path(&self) -> &Path {
        self.data.path()
    }

    /// Starts it and waits until both listeners accept.
    pub(crate) fn start(self) -> Server {
        std::fs::create_dir_all(self.data.path()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let ready = folder.path().join("ready.json");
        let log = std::fs::File::create(folder.path().join("log")).unwrap();
        let banner = std::fs::File::create(folder.path().join("banner")).unwrap();
        let mut child = self.command(&ready).stdout(banner).stderr(log).spawn().unwrap();
        let addresses = wait_for_ready(&mut child, &ready, &folder.path().join("log"));
        let address = |key: &str| addresses[key].as_str().unwrap().trim_end_matches('/').to_owned();
        Server {
            proxy: address("proxy"),
            dashboard: address("dashboard"),
            http: self.http.clone().unwrap_or_else(Http::new),
            token: self.token.map_or_else(|| read_token(self.data.path()), str::to_owned),
            child,
            folder,
            builder: self,
        }
    }

    fn command(&self, ready: &Path) -> Command {
        let mut command = agentgazer();
        command.args(["start", "--port", &self.port, "--proxy-port", "0", "--data-dir"]).arg(self.data.path());
        command.arg("--ready-file").arg(ready);
        for name in ["openai", "anthropic"] {
            command.args(["--provider", &format!("{name}={}", self.provider)]);
        }
        if let Some(database) = self.database.as_ref().filter(|_| !self.arguments.iter().any(|it| it == "--database")) {
            command.args(["--database", database]);
        }
        command.envs(self.fault.map(|place| ("FAULT", place)));
        if let Some(offset) = self.clock {
            command.env("LD_PRELOAD", libfaketime()).env("FAKETIME", offset).env("DONT_FAKE_MONOTONIC", "1");
        }
        command.args(self.token.iter().flat_map(|token| ["--token", token])).args(&self.arguments);
        command
    }
}

/// A library that shows a process another time.
fn libfaketime() -> PathBuf {
    let folders = std::fs::read_dir("/usr/lib").unwrap().map(|folder| folder.unwrap().path());
    let mut files = folders.map(|folder| folder.join("faketime/libfaketimeMT.so.1"));
    files.find(|file| file.exists()).expect("please install libfaketime, as scripts/test does")
}

fn read_token(data: &Path) -> String {
    std::fs::read_to_string(data.join("token")).unwrap().trim().to_owned()
}

#[allow(clippy::disallowed_methods, reason = "another process's file has no event to wait for")]
fn wait_for_ready(child: &mut Child, ready: &Path, log: &Path) -> Value {
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        if let Ok(text) = std::fs::read_to_string(ready) {
            return serde_json::from_str(&text).unwrap();
        }
        let ended = child.try_wait().unwrap();
        let log = || std::fs::read_to_string(log).unwrap_or_default();
        assert!(ended.is_none(), "the server ended with {ended:?}: {}", log());
        assert!(Instant::now() < end, "the server is not ready after a minute: {}", log());
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// A running server; killed when it goes out of scope.
pub(crate) struct Server {
    pub(crate) proxy: String,
    pub(crate) dashboard: String,
    pub(crate) http: Http,
    pub(crate) token: String,
    child: Child,
    folder: TempDir,
    builder: ServerBuilder,
}

impl Server {
    /// An agent of this server.
    pub(crate) fn agent(&self, name: &str) -> Agent {
        Agent::new(name, &self.proxy, self.http.clone())
    }

    /// Calls the API and expects success.
    pub(crate) async fn api(&self, method: Method, path: &str, body: Option<Value>) -> Value {
        let answer = self.try_api(method.clone(), path, body).await.unwrap();
        assert!(answer.status.is_success(), "{method} {path}: {} {:?}", answer.status, answer.body);
        if answer.body.is_empty() { Value::Null } else { answer.json() }
    }

    /// Calls the API and returns any answer.
    pub(crate) async fn try_api(&self, method: Method, path: &str, body: Option<Value>) -> Result<Answer, String> {
        self.http.json(method, &format!("{}{path}", self.dashboard), Some(&self.token), body.as_ref()).await
    }

    /// Calls the API with another token.
    pub(crate) async fn api_as(&self, token: &str, method: Method, path: &str, body: Option<Value>) -> Answer {
        self.http.json(method, &format!("{}{path}", self.dashboard), Some(token), body.as_ref()).await.unwrap()
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        self.api(Method::GET, path, None).await
    }

    /// Changes an agent's kill switch.
    pub(crate) async fn kill_switch(&self, agent: &str, settings: Value) -> Value {
        self.api(Method::PUT, &format!("/api/agents/{agent}/kill-switch"), Some(settings)).await
    }

    /// Activates an agent.
    pub(crate) async fn activate(&self, agent: &str) -> Value {
        self.api(Method::PATCH, &format!("/api/agents/{agent}"), Some(serde_json::json!({"active": true}))).await
    }

    /// All incidents of an agent, page by page.
    pub(crate) async fn incidents(&self, agent: &str) -> Vec<Value> {
        let first = format!("/api/incidents?agent={agent}&limit=500");
        let (mut path, mut incidents) = (first.clone(), Vec::new());
        loop {
            let page = self.get(&path).await;
            incidents.extend(page["items"].as_array().unwrap().iter().cloned());
            let Some(cursor) = page["next_cursor"].as_str() else { return incidents };
            path = format!("{first}&cursor={cursor}");
        }
    }

    /// All events of an agent of one type.
    pub(crate) async fn events(&self, agent: &str, event_type: &str) -> Vec<Value> {
        let path = format!("/api/events?agent={agent}&type={event_type}&limit=500");
        self.get(&path).await["items"].as_array().unwrap().clone()
    }

    /// Its log so far.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap()
    }

    /// Its banner. The server answers before it is printed, so this waits for the last line.
    pub(crate) async fn banner(&self) -> String {
        let read = || std::fs::read_to_string(self.folder.path().join("banner")).unwrap();
        eventually("the banner", async || Some(read()).filter(|banner| banner.contains("\n  data "))).await
    }

    /// Runs a command against it, as its operator would.
    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        let data = self.data_dir().to_str().unwrap();
        run(&[arguments, &["--data-dir", data, "--token", &self.token]].concat())
    }

    /// Runs a command that reads the database itself.
    pub(crate) fn run_on_data(&self, arguments: &[&str]) -> Run {
        self.builder.run_on_data(arguments)
    }

    pub(crate) fn data_dir(&self) -> &Path {
        self.builder.data.path()
    }

    /// Its peak memory so far, in bytes. Only on Linux; 0 elsewhere.
    pub(crate) fn memory(&self) -> usize {
        self.status("VmHWM:")
    }

    /// Its current memory, in bytes. Only on Linux; 0 elsewhere.
    pub(crate) fn resident(&self) -> usize {
        self.status("VmRSS:")
    }

    fn status(&self, name: &str) -> usize {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let value = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("0");
        value.split_whitespace().next().map_or(0, |kibibytes| kibibytes.parse::<usize>().unwrap() << 10)
    }

    /// Its process.
    pub(crate) fn process(&self) -> String {
        self.child.id().to_string()
    }

    /// kill -9.
    pub(crate) fn kill(mut self) -> ServerBuilder {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.builder.clone()
    }

    /// Sends SIGTERM and returns its exit status.
    pub(crate) fn terminate(mut self) -> (ServerBuilder, ExitStatus) {
        self.signal("TERM");
        let status = self.child.wait().unwrap();
        (self.builder.clone(), status)
    }

    /// Waits for its end.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }

    pub(crate) fn signal(&self, signal: &str) {
        let status = Command::new("kill").args([&format!("-{signal}"), &self.child.id().to_string()]).status();
        assert!(status.unwrap().success());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
