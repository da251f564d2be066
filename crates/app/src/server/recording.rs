//! Records the requests and responses of some agents, if the operator enables it: the bodies that
//! the evidence keeper sees are written to a separate file, limited in age and size.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use model::{AgentId, Clock, KeptCall, KeptCalls, Timestamp};
use store::{Recorder, RecordingFile, Store, StoreError};

use crate::config::{Config, RecordingConfig};

/// How often expired or excess recordings are deleted.
const CLEANUP: Duration = Duration::from_secs(60);
/// How often a call is looked up among the events, which are written a moment after it ends.
const TRIES: u8 = 5;
/// The most calls that wait for their event.
const WAITING: usize = 4096;

/// The recording of some agents.
pub(crate) struct Recording {
    config: RecordingConfig,
    pub(crate) file: RecordingFile,
    store: Store,
    recorder: Recorder,
    /// The agents that people have switched on and off.
    switches: HashMap<AgentId, bool>,
    waiting: Vec<Waiting>,
    cleaned: Option<Instant>,
}

/// The file of recordings: opened if recording is possible, or if the file exists, so that its
/// content still expires.
pub(crate) async fn open(config: &Config) -> Option<RecordingFile> {
    if !may_record(config) && !RecordingFile::exists(&config.data_dir) {
        return None;
    }
    let file = RecordingFile::open(&config.data_dir).await;
    file.inspect_err(|error| tracing::warn!("nothing is recorded: {error}")).ok()
}

/// Whether the proxy passes bodies on. People can enable the recording of an agent if bodies may be
/// on disk at all.
pub(crate) fn may_record(config: &Config) -> bool {
    config.recording.is_on() || config.keep_evidence_on_disk
}

/// The recording as the dashboard shows it. Without a copy of the bodies nothing new can be
/// recorded, but the file can still be read.
pub(crate) fn for_dashboard(config: &Config, file: Option<RecordingFile>) -> web::Recording {
    let RecordingConfig { agents, all, keep, max_size } = config.recording.clone();
    let is_possible = file.is_some() && may_record(config);
    web::Recording { file, is_possible, agents, all, keep, max_size }
}

/// A call whose agent is not known yet.
struct Waiting {
    call: KeptCall,
    tries: u8,
}

impl Recording {
    pub(crate) fn new(config: RecordingConfig, file: RecordingFile, store: Store, recorder: Recorder) -> Recording {
        Recording { config, file, store, recorder, switches: HashMap::new(), waiting: Vec::new(), cleaned: None }
    }

    /// Reads what people have switched. If that fails, the earlier state stays.
    pub(crate) async fn read_switches(&mut self) {
        match self.store.recording_switches().await {
            Ok(switches) => self.switches = switches,
            Err(error) => tracing::debug!("the switches of recordings cannot be read: {error}"),
        }
    }

    /// Whether any agent is recorded.
    fn is_on(&self) -> bool {
        self.config.is_on() || self.switches.values().any(|enabled| *enabled)
    }

    fn includes(&self, agent: &AgentId) -> bool {
        self.switches.get(agent).copied().unwrap_or_else(|| self.config.includes(agent))
    }

    /// Takes calls that came or were answered.
    pub(crate) fn take(&mut self, calls: &KeptCalls) {
        if !self.is_on() {
            return;
        }
        let room = WAITING.saturating_sub(self.waiting.len());
        let new = calls.changed.iter().take(room).map(|call| Waiting { call: call.clone(), tries: 0 });
        self.waiting.extend(new);
    }

    /// Writes the calls of recorded agents, and deletes expired or excess ones.
    pub(crate) async fn write(&mut self) -> Result<(), StoreError> {
        if !self.waiting.is_empty() {
            self.recorder.catch_up().await;
            let recorded = self.recorded().await?;
            if !recorded.is_empty() {
                self.file.write(&recorded).await?;
            }
        }
        if self.cleaned.is_none_or(|cleaned| cleaned.elapsed() >= CLEANUP) {
            self.cleaned = Some(Instant::now());
            self.clean_up().await?;
        }
        Ok(())
    }

    /// The waiting calls of recorded agents; those without an event keep waiting.
    async fn recorded(&mut self) -> Result<Vec<(AgentId, KeptCall)>, StoreError> {
        let mut recorded = Vec::new();
        for Waiting { call, tries } in std::mem::take(&mut self.waiting) {
            match self.store.event(call.call).await? {
                Some(row) if self.includes(&row.event.agent) => recorded.push((row.event.agent, call)),
                None if tries < TRIES => self.waiting.push(Waiting { call, tries: tries + 1 }),
                _ => {}
            }
        }
        Ok(recorded)
    }

    async fn clean_up(&self) -> Result<(), StoreError> {
        let keep_ms = i64::try_from(self.config.keep.as_millis()).unwrap_or(i64::MAX);
        let before = Clock::System.now().as_millis().saturating_sub(keep_ms);
        self.file.expire(Timestamp::from_millis(before), self.config.max_size).await?;
        for agent in self.file.agents().await? {
            // Deleting an agent deletes its recordings too.
            if self.store.agent(&agent).await?.is_none() {
                self.file.delete_agent(&agent).await?;
            }
        }
        Ok(())
    }
}
