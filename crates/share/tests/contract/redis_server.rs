//! A private Redis or Valkey for tests: in a temporary directory, on a free port, ended with the
//! process that started it.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const MISSING: &str = "Neither valkey-server nor redis-server is installed, and these tests run on a real one. Install it: \
    `apt install redis-server` (Debian, Ubuntu), `dnf install valkey` (Fedora), `brew install valkey` (macOS). The server \
    need not run.";

/// Starts the server, prints its process id, waits until the test has ended, and removes
/// everything.
const LIFE: &str = r#"
    folder=$(mktemp -d); program=$1; shift
    "$program" --bind 127.0.0.1 --dir "$folder" --save '' --appendonly no "$@" >/dev/null 2>&1 &
    echo $!
    cat >/dev/null
    kill -9 $! 2>/dev/null
"#;

/// A server. It ends when this is dropped or the process ends.
pub(crate) struct RedisServer {
    port: u16,
    /// The process of the server itself.
    #[allow(dead_code, reason = "the server's tests use it")]
    pub(crate) process: String,
    life: Child,
}

impl RedisServer {
    pub(crate) fn start() -> RedisServer {
        let port = free_port();
        RedisServer::start_with(port, &["--port", &port.to_string()])
    }

    /// Starts a server on `port` with these options.
    pub(crate) fn start_with(port: u16, options: &[&str]) -> RedisServer {
        let program = ["valkey-server", "redis-server"].into_iter().find(|name| is_installed(name)).expect(MISSING);
        let mut life = Command::new("sh")
            .args(["-c", LIFE, "sh", program])
            .args(options)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell");
        let process = BufReader::new(life.stdout.take().expect("its output")).lines().next();
        let process = process.and_then(Result::ok).expect("its process");
        let deadline = Instant::now() + Duration::from_secs(30);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(Instant::now() < deadline, "{program} did not start");
            pause();
        }
        RedisServer { port, process, life }
    }

    /// Runs a command without arguments.
    #[allow(dead_code, reason = "the server's tests use it")]
    pub(crate) fn execute(&self, command: &str) -> String {
        let mut connection = TcpStream::connect(("127.0.0.1", self.port)).expect("a connection");
        connection.write_all(format!("{command}\r\n").as_bytes()).expect("a command");
        let mut answer = String::new();
        BufReader::new(connection).read_line(&mut answer).expect("an answer");
        answer
    }

    /// Sends a signal to it.
    #[allow(dead_code, reason = "the server's tests use it")]
    pub(crate) fn signal(&self, signal: &str) {
        let status = Command::new("kill").args([&format!("-{signal}"), &self.process]).status();
        assert!(status.is_ok_and(|status| status.success()), "no signal {signal}");
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        drop(self.life.stdin.take());
        let _ = self.life.wait();
    }
}

pub(crate) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port()
}

fn is_installed(program: &str) -> bool {
    Command::new(program).arg("--version").stdout(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// Between two attempts to connect to a server that starts.
#[allow(clippy::disallowed_methods, reason = "another process's port has no event to wait for")]
fn pause() {
    std::thread::sleep(Duration::from_millis(5));
}
