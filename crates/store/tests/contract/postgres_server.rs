//! A private PostgreSQL for tests: in a temporary directory, on a free port, ended with the process
//! that started it.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// Where distributions put the programs of the server beside those on the path.
const FOLDERS: &str = "/usr/lib/postgresql";

const MISSING: &str = "PostgreSQL is not installed, and these tests run on a real one. Install it: `apt install postgresql` \
    (Debian, Ubuntu), `dnf install postgresql-server` (Fedora), `brew install postgresql` (macOS). The server need not run.";

/// Initialises and starts the server, reports that it runs, waits until the test has ended, and
/// removes everything. A standby begins with a copy of its primary; the last argument is the port.
const LIFE: &str = r#"
    if [ -n "$4" ]; then
        "$1/pg_basebackup" -D "$2/data" -h 127.0.0.1 -p "$4" -U agentgazer -R -c fast --no-sync >"$2/log" 2>&1
    else
        "$1/initdb" -D "$2/data" -A trust -U agentgazer -E UTF8 --locale=C.UTF-8 --no-sync >"$2/log" 2>&1
    fi &&
    "$1/pg_ctl" -D "$2/data" -l "$2/log" -w -t 120 -o "$3" start >>"$2/log" 2>&1 && echo ready || cat "$2/log"
    cat >/dev/null
    "$1/pg_ctl" -D "$2/data" -m immediate stop >>"$2/log" 2>&1
    rm -rf "$2"
"#;

/// A server. It ends when this is dropped or the process ends.
pub(crate) struct PostgresServer {
    programs: PathBuf,
    folder: PathBuf,
    port: u16,
    databases: AtomicU32,
    life: Child,
}

impl PostgresServer {
    pub(crate) fn start() -> PostgresServer {
        PostgresServer::start_as("")
    }

    /// `primary` is the port of the server that it is a standby of.
    fn start_as(primary: &str) -> PostgresServer {
        let programs = programs().expect(MISSING);
        let folder = tempfile::Builder::new().prefix("agentgazer-postgres").tempdir().expect("a folder").keep();
        if let Some((user, group)) = unprivileged() {
            chown(&folder, Some(user), Some(group)).expect("a folder of another user");
        }
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o700)).expect("a private folder");
        let port = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port();
        let mut life = as_unprivileged("sh")
            .args(["-c", LIFE, "sh"])
            .args([&programs, &folder])
            .args([&options(port), primary])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell");
        let mut lines = BufReader::new(life.stdout.take().expect("its output")).lines();
        let first = lines.next().and_then(Result::ok).unwrap_or_default();
        if first != "ready" {
            drop(life.stdin.take());
            let log: Vec<String> = lines.map_while(Result::ok).collect();
            panic!("PostgreSQL did not start:\n{first}\n{}", log.join("\n"));
        }
        PostgresServer { programs, folder, port, databases: AtomicU32::new(0), life }
    }

    /// Starts a standby of this server. From now on a commit that is to survive a power cut also
    /// waits for it.
    #[allow(dead_code, reason = "the server's tests use it")]
    pub(crate) fn start_standby(&self) -> PostgresServer {
        let standby = PostgresServer::start_as(&self.port.to_string());
        let statement = |sql: &str| self.run("psql", &["-X", "-q", "-A", "-t", "-d", "postgres", "-c", sql]);
        statement("alter system set synchronous_standby_names = '*'");
        self.control(&["reload"]);
        while statement("select count(*) from pg_stat_replication where sync_state = 'sync'") != "1" {}
        standby
    }

    /// Makes the standby take over.
    #[allow(dead_code, reason = "the server's tests use it")]
    pub(crate) fn promote(&self) {
        self.control(&["-w", "promote"]);
    }

    /// The database of another server at this one, which has a copy of it.
    #[allow(dead_code, reason = "the server's tests use it")]
    pub(crate) fn copy_of(&self, url: &str) -> String {
        let name = url.rsplit('/').next().unwrap_or_default();
        format!("postgres://agentgazer@127.0.0.1:{}/{name}", self.port)
    }

    /// A new, empty database.
    pub(crate) fn create_database(&self) -> String {
        let name = format!("test_{}", self.databases.fetch_add(1, Ordering::Relaxed));
        self.run("createdb", &[&name]);
        format!("postgres://agentgazer@127.0.0.1:{}/{name}", self.port)
    }

    /// Runs a statement in a database and returns what it printed.
    pub(crate) fn execute(&self, url: &str, sql: &str) -> String {
        let name = url.rsplit('/').next().unwrap_or_default();
        self.run("psql", &["-v", "ON_ERROR_STOP=1", "-X", "-q", "-A", "-t", "-d", name, "-c", sql])
    }

    /// Makes it offer TLS with this certificate and key.
    pub(crate) fn offer_tls(&self, certificate: &str, key: &str) {
        for (name, text) in [("server.crt", certificate), ("server.key", key)] {
            let path = self.folder.join("data").join(name);
            std::fs::write(&path, text).expect("a file of the server");
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).expect("a private file");
            if let Some((user, group)) = unprivileged() {
                chown(&path, Some(user), Some(group)).expect("a file of another user");
            }
        }
        self.run("psql", &["-X", "-q", "-d", "postgres", "-c", "alter system set ssl = on"]);
        self.control(&["reload"]);
    }

    /// Makes it ask `user` for a password.
    pub(crate) fn require_password(&self, user: &str, password: &str) {
        let role = format!("create role {user} login superuser password '{password}'");
        self.run("psql", &["-X", "-q", "-d", "postgres", "-c", &role]);
        let path = self.folder.join("data/pg_hba.conf");
        let rules = std::fs::read_to_string(&path).expect("its rules");
        std::fs::write(&path, format!("host all {user} all scram-sha-256\n{rules}")).expect("its rules");
        self.control(&["reload"]);
    }

    /// Stops the server as a crash does.
    pub(crate) fn stop_immediately(&self) {
        self.control(&["-m", "immediate", "stop"]);
    }

    /// Starts it again after it was stopped.
    pub(crate) fn start_again(&self) {
        self.control(&["-w", "-t", "120", "-o", &options(self.port), "start"]);
    }

    /// kill -9 of one of its processes: it ends all others, and recovers by itself.
    #[allow(dead_code, reason = "the server's tests use it")]
    pub(crate) fn crash(&self) {
        let sessions =
            "select pid from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()";
        let pids = self.run("psql", &["-X", "-q", "-A", "-t", "-d", "postgres", "-c", sessions]);
        let pid = pids.lines().next().expect("a session");
        send_signal("KILL", &[pid]);
    }

    /// Whether it accepts connections.
    #[allow(dead_code, reason = "the server's tests use it")]
    pub(crate) fn is_ready(&self) -> bool {
        let mut command = as_unprivileged(self.programs.join("pg_isready"));
        let command = command.args(["-h", "127.0.0.1", "-p", &self.port.to_string()]).stdout(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    }

    /// Sends a signal to all of its processes.
    #[allow(dead_code, reason = "the server's tests use it")]
    pub(crate) fn signal(&self, signal: &str) {
        let processes = self.processes();
        send_signal(signal, &processes.iter().map(String::as_str).collect::<Vec<_>>());
    }

    /// All of its processes.
    #[allow(dead_code, reason = "the server's tests use it")]
    pub(crate) fn processes(&self) -> Vec<String> {
        let file = std::fs::read_to_string(self.folder.join("data/postmaster.pid")).expect("its process");
        let main = file.lines().next().expect("its process").trim().to_owned();
        let children = std::fs::read_to_string(format!("/proc/{main}/task/{main}/children")).expect("its processes");
        std::iter::once(main).chain(children.split_whitespace().map(str::to_owned)).collect()
    }

    fn control(&self, arguments: &[&str]) {
        let mut command = as_unprivileged(self.programs.join("pg_ctl"));
        command.arg("-D").arg(self.folder.join("data")).arg("-l").arg(self.folder.join("log")).args(arguments);
        assert!(command.stdout(Stdio::null()).status().expect("pg_ctl").success(), "{arguments:?}");
    }

    fn run(&self, program: &str, arguments: &[&str]) -> String {
        let mut command = as_unprivileged(self.programs.join(program));
        let output =
            command.args(["-h", "127.0.0.1", "-U", "agentgazer", "-p", &self.port.to_string()]).args(arguments);
        let output = output.output().expect("the program runs");
        assert!(output.status.success(), "{program} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }
}

/// Some of them may have ended meanwhile.
fn send_signal(signal: &str, processes: &[&str]) {
    Command::new("kill").arg(format!("-{signal}")).args(processes).stderr(Stdio::null()).status().expect("kill");
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        drop(self.life.stdin.take());
        let _ = self.life.wait();
    }
}

/// No waiting for the disk, and enough connections for every test at once.
fn options(port: u16) -> String {
    format!(
        "-c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories= -c fsync=off -c max_connections=300"
    )
}

/// The folder with the programs of the newest version.
fn programs() -> Option<PathBuf> {
    let mut folders: Vec<PathBuf> =
        std::fs::read_dir(FOLDERS).into_iter().flatten().flatten().map(|entry| entry.path().join("bin")).collect();
    folders.sort_by_key(|folder| {
        let version = folder.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
        std::cmp::Reverse(version.and_then(|version| version.parse::<u32>().ok()))
    });
    folders.extend(std::env::var_os("PATH").iter().flat_map(std::env::split_paths));
    folders.into_iter().find(|folder| folder.join("initdb").is_file() && folder.join("pg_ctl").is_file())
}

/// The user that runs the server when root does the tests: PostgreSQL refuses to run as root.
fn unprivileged() -> Option<(u32, u32)> {
    if std::fs::metadata("/proc/self").map_or(1, |process| process.uid()) != 0 {
        return None;
    }
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let find = |name: &str| {
        let mut fields = users.lines().find(|line| line.split(':').next() == Some(name))?.split(':').skip(2);
        Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
    };
    find("postgres").or_else(|| find("nobody"))
}

fn as_unprivileged(program: impl AsRef<Path>) -> Command {
    let mut command = Command::new(program.as_ref());
    if let Some((user, group)) = unprivileged() {
        command.uid(user).gid(group).current_dir("/").env("HOME", "/");
    }
    command
}
