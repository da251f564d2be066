//! A pooler before the database: in session mode everything works, in transaction mode nothing
//! starts.

use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::faults::QUESTION;
use crate::support::{POSTGRES, ServerBuilder, provider, run};

const MISSING: &str = "pgbouncer is not installed, and these tests run behind a real one. Install it: `apt install pgbouncer` \
    (Debian, Ubuntu), `dnf install pgbouncer` (Fedora), `brew install pgbouncer` (macOS). The server need not run.";

/// A pooler that ends when this is dropped.
struct PgBouncer {
    port: u16,
    process: Child,
    _folder: TempDir,
}

impl PgBouncer {
    /// Stands before the server of `database`.
    fn start(database: &str, mode: &str) -> PgBouncer {
        let folder = tempfile::tempdir().unwrap();
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let server = database.rsplit('/').nth(1).unwrap().rsplit(':').next().unwrap();
        let config = format!(
            "[databases]\n* = host=127.0.0.1 port={server} user=agentgazer\n[pgbouncer]\nlisten_addr = 127.0.0.1\n\
             listen_port = {port}\nunix_socket_dir =\nauth_type = any\npool_mode = {mode}\nmax_client_conn = 100\n\
             default_pool_size = 100\n\
             ignore_startup_parameters = extra_float_digits\n"
        );
        let path = folder.path().join("pgbouncer.ini");
        std::fs::write(&path, config).unwrap();
        let program = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"].into_iter().find(|it| std::fs::exists(it).unwrap());
        let mut command = Command::new(program.unwrap_or("pgbouncer"));
        if Command::new("id").arg("-u").output().unwrap().stdout == b"0\n" {
            // It refuses to run as root.
            command.args(["-u", "nobody"]);
        }
        let mut process = command.arg(&path).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect(MISSING);
        let deadline = Instant::now() + Duration::from_secs(30);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(process.try_wait().unwrap().is_none() && Instant::now() < deadline, "pgbouncer did not start");
            pause();
        }
        PgBouncer { port, process, _folder: folder }
    }

    /// The same database, through the pooler.
    fn url(&self, database: &str) -> String {
        format!("postgres://agentgazer@127.0.0.1:{}/{}", self.port, database.rsplit('/').next().unwrap())
    }
}

impl Drop for PgBouncer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pooler_in_transaction_mode_is_refused() {
    let database = POSTGRES.create_database();
    let pooler = PgBouncer::start(&database, "transaction");
    let data = tempfile::tempdir().unwrap();
    let url = pooler.url(&database);
    for command in ["start", "migrate"] {
        for engine in ["off", "postgres"] {
            let arguments = ["--data-dir", data.path().to_str().unwrap(), "--database", &url];
            let engine = format!("shared.engine={engine}");
            let refused = run(&[&[command], &arguments[..], &["--set", &engine, "--set", "port=0"]].concat());
            assert_ne!(refused.code, Some(0), "{refused:?}");
            assert!(refused.stderr.contains("pool_mode to session"), "{refused:?}");
        }
    }
    let tables = "select count(*) from pg_tables where schemaname = 'public'";
    assert_eq!(POSTGRES.execute(&database, tables), "0", "nothing was made");
    let locks = "select count(*) from pg_locks where locktype = 'advisory'
        and database = (select oid from pg_database where datname = current_database())";
    assert_eq!(POSTGRES.execute(&database, locks), "0", "no lock is left behind");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pooler_in_session_mode_may_stand_before_replicas() {
    let (provider, database) = (provider().await, POSTGRES.create_database());
    let pooler = PgBouncer::start(&database, "session");
    let keys = tempfile::tempdir().unwrap();
    let key_file = format!("key_file={}", keys.path().join("key").display());
    let url = pooler.url(&database);
    let settings = ["--set", "shared.engine=postgres", "--set", &key_file, "--set", "kill_switch.enabled=true"];
    let arguments = [&["--database", &url], &settings[..], &["--set", "kill_switch.threshold=5"]].concat();
    let [one, two] = [(); 2].map(|()| ServerBuilder::new(&provider.url()).arguments(&arguments).start());
    for server in [&one, &two, &one] {
        assert_eq!(server.agent("looper").ask(QUESTION).await.status, 200);
    }
    for server in [&two, &one] {
        assert!(server.agent("looper").ask(QUESTION).await.is_inactive_response());
    }
}

/// Between two attempts to connect to a server that starts.
#[allow(clippy::disallowed_methods, reason = "another process's port has no event to wait for")]
fn pause() {
    std::thread::sleep(Duration::from_millis(5));
}
