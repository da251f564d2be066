//! Watches the TLS files and reloads them when one changes, or on SIGHUP.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::JoinHandle;

use super::{Tls, TlsFiles};

/// How often the files are checked. Checking three files takes microseconds.
const LOOK_EVERY: Duration = Duration::from_secs(2);

impl Tls {
    /// Watches the files until the task is aborted.
    pub(crate) fn watch(&self) -> JoinHandle<()> {
        let tls = self.clone();
        let mut known = stamps(&tls.0.files);
        // Without a handler the signal would end the process; the files are watched in any case.
        let mut asked = signal(SignalKind::hangup()).ok();
        tokio::spawn(async move {
            loop {
                let is_asked = tokio::select! {
                    () = tokio::time::sleep(LOOK_EVERY) => false,
                    () = next(&mut asked) => true,
                };
                // Taken before the files are read: a change in between is noticed next time.
                let now = stamps(&tls.0.files);
                if is_asked || now != known {
                    known = now;
                    let tls = tls.clone();
                    let _ = tokio::task::spawn_blocking(move || tls.read_again()).await;
                }
            }
        })
    }
}

async fn next(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => drop(signal.recv().await),
        None => std::future::pending().await,
    }
}

/// Identifies a version of a file.
type Stamp = Option<(u64, u64, i64, i64, u64)>;

fn stamps(files: &TlsFiles) -> [Stamp; 3] {
    let stamp = |path: &Path| std::fs::metadata(path).ok().map(|file| version(&file));
    [stamp(&files.certificate), stamp(&files.key), files.client_ca.as_deref().and_then(stamp)]
}

fn version(file: &Metadata) -> (u64, u64, i64, i64, u64) {
    (file.dev(), file.ino(), file.mtime(), file.mtime_nsec(), file.len())
}
