//! Keeps a copy of the bodies in the windows on disk, so that the evidence of a kill after a
//! restart is complete. It follows the proxy at its own pace: no call ever waits for it.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use guard::Guard;
use model::{CallId, KeptCalls};
use proxy::Proxy;
use store::{EvidenceFile, StoreError};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::MissedTickBehavior;

use super::recording::Recording;
use crate::config::Config;
use crate::data_dir::DataDir;

/// How often the copy is updated. Calls that leave the windows sooner are never written.
const INTERVAL: Duration = Duration::from_secs(1);
/// How much is compressed and written at a time, which bounds the memory of the copies. A larger
/// body is its own part.
const PART: usize = 1 << 20;
/// The most parts per update, so that the disk has time for the database.
const PARTS: usize = 8;
/// The bodies of at most so many calls are restored before the first call. The others follow: a
/// start should not wait for all.
const FIRST_CALLS: usize = 4096;
/// How many calls are read at a time.
const READ_AT_ONCE: usize = 256;
/// How long the rest may take when the server stops.
const LAST_PART: Duration = Duration::from_secs(10);

/// The task that writes the copy.
#[derive(Debug)]
pub(crate) struct EvidenceKeeper {
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
    restoring: Option<JoinHandle<()>>,
}

impl EvidenceKeeper {
    /// Restores in `proxy` the bodies of the newest calls in the windows of `guard`, and starts to
    /// write. The other bodies follow when the windows of `older_agents` are restored.
    /// `None` if the configuration disables it or the file cannot be used; evidence is then kept in
    /// memory only.
    pub(crate) async fn start(
        (config, directory): (&Config, &Arc<DataDir>),
        guard: &Arc<Guard>,
        proxy: &Proxy,
        recording: Option<Recording>,
        older_agents: oneshot::Receiver<()>,
    ) -> Option<EvidenceKeeper> {
        let mut restore = Restore { guard: Arc::clone(guard), proxy: proxy.clone(), rest: Vec::new() };
        let file = evidence_file(config, &mut restore).await;
        if file.is_none() && recording.is_none() {
            return None;
        }
        let restoring = file.clone().map(|file| tokio::spawn(restore.older(file, older_agents)));
        let (proxy, unwritten) = (proxy.clone(), KeptCalls::default());
        let (directory, path) = (Arc::clone(directory), config.data_dir.clone());
        let copy = DiskCopy { proxy, directory, path, file, recording, unwritten, is_failing: false };
        Some(EvidenceKeeper::run(copy, restoring))
    }

    fn run(mut copy: DiskCopy, restoring: Option<JoinHandle<()>>) -> EvidenceKeeper {
        let (stop, mut stopped) = oneshot::channel();
        let task = tokio::spawn(async move {
            let mut ticks = tokio::time::interval(INTERVAL);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                tokio::select! {
                    _ = ticks.tick() => copy.write_parts().await,
                    _ = &mut stopped => break,
                };
            }
            while copy.write_part().await {}
            copy.close().await;
        });
        EvidenceKeeper { stop, task, restoring }
    }

    /// Writes the rest.
    pub(crate) async fn stop(self) {
        // The next server restores the rest.
        self.restoring.iter().for_each(JoinHandle::abort);
        let _ = self.stop.send(());
        if tokio::time::timeout(LAST_PART, self.task).await.is_err() {
            tracing::warn!("not all bodies of the calls in the windows could be written in time");
        }
    }
}

/// The file, after the newest bodies are restored.
async fn evidence_file(config: &Config, restore: &mut Restore) -> Option<EvidenceFile> {
    if !config.keep_evidence_on_disk {
        if let Err(error) = EvidenceFile::delete(&config.data_dir) {
            tracing::warn!("bodies of earlier calls are still on disk: {error}");
        }
        return None;
    }
    let file = match EvidenceFile::open(&config.data_dir).await {
        Ok(file) => restore.newest(&file).await.map(|()| file),
        Err(error) => Err(error),
    };
    file.inspect_err(|error| tracing::warn!("a restart will lose the bodies of the calls in the windows: {error}")).ok()
}

/// Restores the bodies of the calls in the windows, and deletes those of other calls.
struct Restore {
    guard: Arc<Guard>,
    proxy: Proxy,
    /// The calls in the file that are not restored yet, newest first.
    rest: Vec<CallId>,
}

impl Restore {
    /// Restores the newest calls. Some of the others may be in the windows of agents that are not
    /// restored yet.
    async fn newest(&mut self, file: &EvidenceFile) -> Result<(), StoreError> {
        let calls = file.calls().await?;
        self.proxy.expect_kept_calls(&calls);
        let in_windows = self.guard.calls_in_windows(&calls.iter().copied().collect());
        let newest: Vec<CallId> =
            calls.iter().copied().filter(|id| in_windows.contains(id)).take(FIRST_CALLS).collect();
        let restored: HashSet<CallId> = newest.iter().copied().collect();
        self.rest = calls.into_iter().filter(|id| !restored.contains(id)).collect();
        self.read(file, &newest).await
    }

    /// Restores the others once the windows of `older_agents` are restored.
    async fn older(mut self, file: EvidenceFile, older_agents: oneshot::Receiver<()>) {
        if self.rest.is_empty() {
            return;
        }
        // The sender is dropped if the windows could not be restored: then those calls are in none.
        let _ = older_agents.await;
        let (guard, rest) = (Arc::clone(&self.guard), std::mem::take(&mut self.rest));
        let by_windows = move || -> (Vec<CallId>, Vec<CallId>) {
            let found = guard.calls_in_windows(&rest.iter().copied().collect());
            rest.into_iter().partition(|id| found.contains(id))
        };
        let Ok((wanted, gone)) = tokio::task::spawn_blocking(by_windows).await else { return };
        self.proxy.release_kept_calls(&gone);
        if let Err(error) = self.read(&file, &wanted).await {
            tracing::warn!("the bodies of some calls in the windows are lost: {error}");
        }
    }

    /// Restores `calls`, newest first, until there is no more room.
    async fn read(&self, file: &EvidenceFile, calls: &[CallId]) -> Result<(), StoreError> {
        let mut has_room = true;
        for part in calls.chunks(READ_AT_ONCE) {
            if has_room {
                has_room = self.proxy.restore_kept_calls(file.read(part).await?);
            } else {
                self.proxy.release_kept_calls(part);
            }
        }
        Ok(())
    }
}

/// The copy, and the part that could not be written yet.
struct DiskCopy {
    proxy: Proxy,
    directory: Arc<DataDir>,
    path: PathBuf,
    file: Option<EvidenceFile>,
    recording: Option<Recording>,
    unwritten: KeptCalls,
    is_failing: bool,
}

impl DiskCopy {
    async fn write_parts(&mut self) {
        self.replace_lost_files().await;
        for _ in 0..PARTS {
            if !self.write_part().await {
                return;
            }
        }
    }

    async fn replace_lost_files(&mut self) {
        let lost_bodies = self.file.as_ref().and_then(EvidenceFile::loss);
        let lost_recordings = self.recording.as_ref().and_then(|recording| recording.file.loss());
        if lost_bodies.is_none() && lost_recordings.is_none() {
            return;
        }
        match self.directory.claim_again() {
            Ok(()) => {
                self.replace_if_lost().await;
                self.reopen_recordings_if_lost().await;
            }
            // Another server has the directory by now, and these are its files.
            Err(error) => tracing::debug!("bodies are written to files that are lost: {error:#}"),
        }
    }

    /// Writes a new file if somebody deleted or replaced the one that is open. If that fails, it is
    /// tried again with the next update.
    async fn replace_if_lost(&mut self) {
        let Some((file, loss)) = self.file.as_ref().and_then(|file| Some((file, file.loss()?))) else { return };
        match file.replace(&self.path).await {
            Ok(new) => {
                tracing::warn!("{loss}: the bodies of the calls in the windows are written to a new file");
                self.proxy.keep_calls_again();
                self.file = Some(new);
                self.is_failing = false;
            }
            Err(error) => self.note_failure(&error),
        }
    }

    async fn reopen_recordings_if_lost(&mut self) {
        let Some(recording) = &self.recording else { return };
        match recording.file.reopen_if_lost().await {
            Ok(Some(loss)) => tracing::warn!("{loss}: further recordings are written to a new file"),
            Ok(None) => {}
            Err(error) => self.note_failure(&error),
        }
    }

    fn note_failure(&mut self, error: &StoreError) {
        if !std::mem::replace(&mut self.is_failing, true) {
            tracing::warn!("bodies of calls cannot be written to disk: {error}");
        }
    }

    /// Writes one part; `false` if there was nothing to write.
    async fn write_part(&mut self) -> bool {
        if self.unwritten.is_empty() {
            let proxy = self.proxy.clone();
            let taken = tokio::task::spawn_blocking(move || proxy.take_kept_calls(PART)).await;
            self.unwritten = taken.unwrap_or_default();
            if let Some(recording) = self.recording.as_mut().filter(|_| !self.unwritten.is_empty()) {
                recording.read_switches().await;
                recording.take(&self.unwritten);
            }
        }
        match self.write().await {
            Ok(()) => {
                self.is_failing = false;
                !std::mem::take(&mut self.unwritten).is_empty()
            }
            Err(error) => {
                self.note_failure(&error);
                false
            }
        }
    }

    async fn write(&mut self) -> Result<(), StoreError> {
        if let Some(file) = self.file.as_ref().filter(|_| !self.unwritten.is_empty()) {
            file.write(&self.unwritten).await?;
        }
        match &mut self.recording {
            Some(recording) => recording.write().await,
            None => Ok(()),
        }
    }

    async fn close(&self) {
        if let Some(file) = &self.file {
            file.close().await;
        }
        if let Some(recording) = &self.recording {
            recording.file.close().await;
        }
    }
}
