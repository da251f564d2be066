//! The processes of the bench: the provider, nginx and our proxy, pinned, with their CPU time.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::conversation::Api;

pub(crate) const PROXY_CORE: &str = "0";
const LOAD_CORE: &str = "1";

/// The program under test: another one if `AGENTGAZER_BIN` says so, to compare versions.
fn binary() -> String {
    std::env::var("AGENTGAZER_BIN").unwrap_or_else(|_| env!("CARGO_BIN_EXE_agentgazer").to_owned())
}

const TOKEN: &str = "token-of-the-benchmark";

/// Something that answers requests.
pub(crate) trait Target {
    fn name(&self) -> &'static str;
    fn address(&self) -> SocketAddr;
    /// Where calls of `api` go.
    fn path(&self, api: Api) -> String {
        api.path().to_owned()
    }
    /// CPU time so far, user and system, of all its processes.
    fn cpu_time(&self) -> Duration;
}

/// A child process that ends with its owner.
pub(crate) struct Process(Child);

impl Process {
    /// CPU time so far, user and system, with that of its children.
    pub(crate) fn cpu_time(&self) -> Duration {
        cpu_time_of_tree(self.0.id())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts `program` on `core`.
pub(crate) fn pinned(core: &str, program: &str, arguments: &[&str]) -> Process {
    let child = Command::new("taskset")
        .args(["-c", core, program])
        .args(arguments)
        .stdout(Stdio::null())
        .spawn()
        .unwrap_or_else(|error| panic!("{program}: {error}"));
    Process(child)
}

/// Puts this process beside the provider, away from the proxy under test.
pub(crate) fn pin_self_to_load_core() {
    let pid = std::process::id().to_string();
    let status = Command::new("taskset").args(["-apc", LOAD_CORE, &pid]).stdout(Stdio::null()).status();
    assert!(status.is_ok_and(|status| status.success()), "taskset (util-linux) is needed");
}

/// The built-in provider.
pub(crate) struct Provider {
    pub(crate) address: SocketAddr,
    _process: Process,
}

impl Provider {
    pub(crate) fn start(folder: &Path) -> Provider {
        let ready = folder.join("provider.json");
        let path = ready.to_string_lossy().into_owned();
        let text =
            "The importer skips every row whose first column is empty, so the job finds nothing to import. ".repeat(4);
        let arguments = ["provider", "--port", "0", "--chunks", "50", "--text", &text, "--ready-file", &path];
        let process = pinned(LOAD_CORE, &binary(), &arguments);
        Provider { address: address_in(&wait_for(&ready), "provider"), _process: process }
    }
}

/// No proxy at all.
pub(crate) struct Direct(SocketAddr);

impl Direct {
    pub(crate) fn new(provider: &Provider) -> Direct {
        Direct(provider.address)
    }
}

impl Target for Direct {
    fn name(&self) -> &'static str {
        "no proxy"
    }
    fn address(&self) -> SocketAddr {
        self.0
    }
    fn cpu_time(&self) -> Duration {
        Duration::ZERO
    }
}

/// nginx as a reverse proxy: one worker, keep-alive to the provider, nothing buffered on the way
/// back.
pub(crate) struct Nginx {
    address: SocketAddr,
    process: Process,
    bodies: BodyBuffering,
}

/// What nginx does with the bodies of requests. By default it would write those over 16 KB to a
/// file first.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum BodyBuffering {
    /// Sent on as they come.
    Off,
    /// Read whole into memory before they are sent on, as ours are.
    On,
}

impl Nginx {
    pub(crate) fn start(folder: &Path, provider: &Provider, bodies: BodyBuffering) -> Nginx {
        let address = free_address();
        let config = folder.join(format!("nginx-{}.conf", address.port()));
        let buffering = match bodies {
            BodyBuffering::Off => "proxy_request_buffering off",
            BodyBuffering::On => "client_body_buffer_size 1m",
        };
        let text = format!(
            "daemon off; worker_processes 1; pid {config}.pid; error_log {folder}/nginx.log;\n\
             events {{ worker_connections 1024; }}\n\
             http {{\n  access_log off; client_max_body_size 32m; {buffering}; client_body_temp_path {folder}/nginx-body;\n  \
             keepalive_requests 1000000000; tcp_nodelay on;\n  \
             upstream provider {{ server {provider}; keepalive 64; keepalive_requests 1000000000; }}\n  \
             server {{ listen {address}; location / {{ proxy_pass http://provider; proxy_http_version 1.1;\n    \
             proxy_set_header Connection \"\"; proxy_buffering off; }} }}\n}}\n",
            config = config.display(),
            folder = folder.display(),
            provider = provider.address,
        );
        fs::write(&config, text).expect("nginx.conf");
        let process = pinned(PROXY_CORE, "nginx", &["-c", &config.to_string_lossy()]);
        wait_until_it_listens(address);
        Nginx { address, process, bodies }
    }
}

impl Target for Nginx {
    fn name(&self) -> &'static str {
        match self.bodies {
            BodyBuffering::Off => "nginx",
            BodyBuffering::On => "nginx whole",
        }
    }
    fn address(&self) -> SocketAddr {
        self.address
    }
    fn cpu_time(&self) -> Duration {
        self.process.cpu_time()
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // Killing the master would leave its worker behind.
        let _ = Command::new("kill").args(["-TERM", &self.process.0.id().to_string()]).status();
        let _ = self.process.0.wait();
    }
}

/// Our proxy with the kill switch on and recording on.
pub(crate) struct Ours {
    address: SocketAddr,
    dashboard: SocketAddr,
    process: Process,
}

impl Ours {
    pub(crate) fn start(folder: &Path, provider: &Provider) -> Ours {
        let data = tempfile::tempdir_in(folder).expect("a data directory").keep();
        let ready = data.join("ready.json");
        let config = data.join("bench.toml");
        // On, and scoring every call, but never firing: the load repeats itself by design.
        fs::write(&config, "[kill_switch]\nenabled = true\nthreshold = 10000.0\n").expect("bench.toml");
        let providers =
            [Api::OpenAi, Api::Anthropic].map(|api| format!("{}=http://{}", api.provider(), provider.address));
        let (data, ready_path, config) = (data.to_string_lossy(), ready.to_string_lossy(), config.to_string_lossy());
        let process = pinned(
            PROXY_CORE,
            &binary(),
            &[
                "start",
                "--port",
                "0",
                "--proxy-port",
                "0",
                "--token",
                TOKEN,
                "--data-dir",
                &data,
                "--config",
                &config,
                "--ready-file",
                &ready_path,
                "--provider",
                &providers[0],
                "--provider",
                &providers[1],
            ],
        );
        let ready = wait_for(&ready);
        Ours { address: address_in(&ready, "proxy"), dashboard: address_in(&ready, "dashboard"), process }
    }

    /// Where its API is, and the header that lets us in.
    pub(crate) fn api(&self) -> (SocketAddr, String) {
        (self.dashboard, format!("authorization: Bearer {TOKEN}"))
    }

    /// Where the event stream is, and the request for it.
    pub(crate) fn event_stream(&self) -> (SocketAddr, String) {
        let host = self.dashboard;
        (host, format!("GET /api/stream HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {TOKEN}\r\n\r\n"))
    }

    /// Resident memory in bytes.
    pub(crate) fn memory(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.0.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or_default() * 1024
    }
}

impl Target for Ours {
    fn name(&self) -> &'static str {
        "agentgazer"
    }
    fn address(&self) -> SocketAddr {
        self.address
    }
    fn path(&self, api: Api) -> String {
        format!("/agents/bench/{}{}", api.provider(), api.path())
    }
    fn cpu_time(&self) -> Duration {
        self.process.cpu_time()
    }
}

/// CPU time of a process and its children.
fn cpu_time_of_tree(pid: u32) -> Duration {
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    let children = children.split_whitespace().filter_map(|child| child.parse().ok());
    cpu_time_of(pid) + children.map(cpu_time_of_tree).sum::<Duration>()
}

/// CPU time of one process, all its threads, as the scheduler counts it: to the nanosecond.
fn cpu_time_of(pid: u32) -> Duration {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let nanoseconds = threads.filter_map(|thread| {
        let counts = fs::read_to_string(thread.path().join("schedstat")).ok()?;
        counts.split_whitespace().next()?.parse::<u64>().ok()
    });
    Duration::from_nanos(nanoseconds.sum())
}

fn wait_for(ready_file: &Path) -> serde_json::Value {
    let end = Instant::now() + Duration::from_secs(20);
    while Instant::now() < end {
        if let Ok(text) = fs::read_to_string(ready_file) {
            return serde_json::from_str(&text).expect("a ready file");
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    panic!("{} was not written", ready_file.display());
}

fn address_in(ready: &serde_json::Value, key: &str) -> SocketAddr {
    let url = ready[key].as_str().expect("an address");
    url.trim_start_matches("http://").trim_end_matches('/').parse().expect("an address")
}

pub(crate) fn free_address() -> SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address")
}

pub(crate) fn wait_until_it_listens(address: SocketAddr) {
    let end = Instant::now() + Duration::from_secs(20);
    while std::net::TcpStream::connect(address).is_err() {
        assert!(Instant::now() < end, "nothing listens on {address}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
