//! Keeps a copy of the bodies in the windows on disk, so that the evidence of a kill after a
//! restart is complete. It follows the proxy at its own pace: no call ever waits for it.

use std::time::Duration;

use guard::Guard;
use model::KeptCalls;
use proxy::Proxy;
use store::{EvidenceFile, StoreError};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::MissedTickBehavior;

use super::recording::Recording;
use crate::config::Config;

/// How often the copy is updated. Calls that leave the windows sooner are never written.
const EVERY: Duration = Duration::from_secs(1);
/// How much is compressed and written at a time, which bounds the memory of the copies. A larger
/// body is its own part.
const PART: usize = 1 << 20;
/// The most parts per update, so that the disk has time for the database.
const PARTS: usize = 8;
/// How long the rest may take when the server stops.
const LAST_PART: Duration = Duration::from_secs(10);

/// The task that writes the copy.
#[derive(Debug)]
pub(crate) struct EvidenceKeeper {
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl EvidenceKeeper {
    /// Restores in `proxy` the bodies of the calls in the windows of `guard`, and starts to write.
    /// `None` if the configuration disables it or the file cannot be used; evidence is then kept in
    /// memory only.
    pub(crate) async fn start(
        config: &Config,
        guard: &Guard,
        proxy: &Proxy,
        recording: Option<Recording>,
    ) -> Option<EvidenceKeeper> {
        let file = evidence_file(config, guard, proxy).await;
        if file.is_none() && recording.is_none() {
            return None;
        }
        let (proxy, unwritten) = (proxy.clone(), KeptCalls::default());
        Some(EvidenceKeeper::run(Copy { proxy, file, recording, unwritten, is_failing: false }))
    }

    fn run(mut copy: Copy) -> EvidenceKeeper {
        let (stop, mut stopped) = oneshot::channel();
        let task = tokio::spawn(async move {
            let mut ticks = tokio::time::interval(EVERY);
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
        EvidenceKeeper { stop, task }
    }

    /// Writes the rest.
    pub(crate) async fn stop(self) {
        let _ = self.stop.send(());
        if tokio::time::timeout(LAST_PART, self.task).await.is_err() {
            tracing::warn!("not all bodies of the calls in the windows could be written in time");
        }
    }
}

/// The file, after its content is restored in `proxy`.
async fn evidence_file(config: &Config, guard: &Guard, proxy: &Proxy) -> Option<EvidenceFile> {
    if !config.keep_evidence_on_disk {
        if let Err(error) = EvidenceFile::delete(&config.data_dir) {
            tracing::warn!("bodies of earlier calls are still on disk: {error}");
        }
        return None;
    }
    let restored = restore(config, guard, proxy).await;
    restored
        .inspect_err(|error| tracing::warn!("a restart will lose the bodies of the calls in the windows: {error}"))
        .ok()
}

async fn restore(config: &Config, guard: &Guard, proxy: &Proxy) -> Result<EvidenceFile, StoreError> {
    let file = EvidenceFile::open(&config.data_dir).await?;
    let in_windows = guard.calls_in_windows(&file.calls().await?);
    proxy.restore_kept_calls(file.restore(&in_windows, config.evidence_budget).await?);
    Ok(file)
}

/// The copy, and the part that could not be written yet.
struct Copy {
    proxy: Proxy,
    file: Option<EvidenceFile>,
    recording: Option<Recording>,
    unwritten: KeptCalls,
    is_failing: bool,
}

impl Copy {
    async fn write_parts(&mut self) {
        for _ in 0..PARTS {
            if !self.write_part().await {
                return;
            }
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
                if !std::mem::replace(&mut self.is_failing, true) {
                    tracing::warn!("bodies of calls cannot be written to disk: {error}");
                }
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
