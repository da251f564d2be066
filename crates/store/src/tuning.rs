//! Sizes and times of the writer; only tests set other values.

use std::time::Duration;

/// Sizes and times of the writer.
#[derive(Clone, Debug)]
pub(crate) struct Tuning {
    /// The writer whose sums it adds to: several writers of one database need different names.
    pub(crate) writer: std::sync::Arc<str>,
    /// Events in one transaction. A batch writes the newest page of every agent's part of an index:
    /// the more events of an agent it has, the less each of them costs. A kill may have to wait for
    /// one batch, some 20 ms.
    pub(crate) batch_rows: usize,
    /// How long the first event of a batch waits for others.
    pub(crate) batch_delay: Duration,
    /// The same under load; a batch of `busy_rows` or more means load.
    pub(crate) busy_delay: Duration,
    pub(crate) busy_rows: usize,
    /// How long after the last batch of `busy_rows` or more the cache of pages is released. Pages
    /// that are needed again are read from the system's cache.
    pub(crate) cache_idle_time: Duration,
    /// How long one attempt waits for a lock. Shorter than [`Tuning::change_timeout`], so that
    /// there is more than one attempt.
    pub(crate) busy_timeout: Duration,
    /// The pause after the first failure; it doubles with each one up to `longest_pause`.
    pub(crate) first_pause: Duration,
    pub(crate) longest_pause: Duration,
    /// How long a change is tried before it is given up.
    pub(crate) change_timeout: Duration,
    /// How long a reader waits for the writer to catch up.
    pub(crate) catch_up_timeout: Duration,
    /// How long a stop keeps trying to write the rest.
    pub(crate) stop_timeout: Duration,
    /// How many events are kept while nothing can be written.
    pub(crate) kept_events: usize,
    /// How many bytes of evidence are kept while nothing can be written.
    pub(crate) kept_evidence_bytes: usize,
    /// How many rows retention deletes at a time.
    pub(crate) retention_rows: i64,
    /// How many rows of a deleted agent are deleted at a time. A kill may have to wait for one
    /// step.
    pub(crate) deletion_rows: i64,
    /// The number of agents whose sums are made at a time.
    pub(crate) sum_agents: i64,
    /// The length in bytes at which the write-ahead log is moved into the database, and how often
    /// the length is checked. A longer log lets more batches share one copy of a page (the newest
    /// page of every agent in every index).
    pub(crate) longest_log: u64,
    pub(crate) log_interval: Duration,
    /// How often the size of the database is measured.
    pub(crate) size_interval: Duration,
    /// How many events a page examines if no index finds its rows.
    pub(crate) examined_events: u32,
    /// How often retention runs.
    pub(crate) retention_interval: Duration,
    /// Settings of the writer's connection that make it fail.
    #[cfg(test)]
    pub(crate) faults: std::sync::Arc<std::sync::Mutex<Vec<(&'static str, &'static str)>>>,
}

impl Default for Tuning {
    fn default() -> Self {
        Tuning {
            writer: "".into(),
            batch_rows: 4096,
            batch_delay: Duration::from_millis(50),
            busy_delay: Duration::from_millis(400),
            busy_rows: 64,
            cache_idle_time: Duration::from_secs(5),
            busy_timeout: Duration::from_secs(1),
            first_pause: Duration::from_millis(50),
            longest_pause: Duration::from_secs(1),
            change_timeout: Duration::from_secs(5),
            catch_up_timeout: Duration::from_millis(250),
            stop_timeout: Duration::from_secs(10),
            kept_events: 50_000,
            kept_evidence_bytes: 256 << 20,
            retention_rows: 500,
            deletion_rows: 2_000,
            sum_agents: 500,
            longest_log: 64 << 20,
            log_interval: Duration::from_secs(1),
            size_interval: Duration::from_secs(10),
            examined_events: 100_000,
            retention_interval: Duration::from_secs(3600),
            #[cfg(test)]
            faults: std::sync::Arc::default(),
        }
    }
}

impl Tuning {
    #[cfg(test)]
    pub(crate) fn faults(&self) -> Vec<(&'static str, &'static str)> {
        self.faults.lock().map(|faults| faults.clone()).unwrap_or_default()
    }

    #[cfg(not(test))]
    pub(crate) fn faults(&self) -> [(&'static str, &'static str); 0] {
        []
    }
}
