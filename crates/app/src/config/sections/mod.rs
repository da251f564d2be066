//! Sections of the configuration with several settings each.

pub(super) mod access;
mod alerting;
pub(super) mod identity;
pub(super) mod shared;

pub use self::alerting::Alerting;
pub use self::identity::{JwtSettings, OidcSettings};
pub use self::shared::{Engine, SharedConfig};

use std::path::PathBuf;
use std::time::Duration;

use http::StatusCode;
use model::AgentId;
use secrecy::SecretString;
use wire::RefusalStatus;

/// The database.
#[derive(Clone, Debug, Default)]
pub struct Database {
    /// The address of a PostgreSQL server; `None` for the file in the data directory.
    pub url: Option<SecretString>,
    /// The file with the password, if it is not in the address.
    pub password_file: Option<PathBuf>,
}

/// The configured status of refusals: for all formats, or for one.
#[derive(Clone, Copy, Debug, Default)]
pub struct RefusalStatuses {
    /// For all formats without their own.
    pub all: Option<StatusCode>,
    /// For callers of this format only.
    pub openai: Option<StatusCode>,
    /// For callers of this format only.
    pub anthropic: Option<StatusCode>,
    /// For callers of this format only.
    pub gemini: Option<StatusCode>,
    /// For callers of this format only.
    pub ollama: Option<StatusCode>,
}

impl RefusalStatuses {
    /// The status for each format. A setting for one format overrides the one for all.
    pub fn by_format(&self) -> RefusalStatus {
        let base = self.all.map_or_else(RefusalStatus::default, RefusalStatus::all);
        RefusalStatus {
            openai: self.openai.unwrap_or(base.openai),
            anthropic: self.anthropic.unwrap_or(base.anthropic),
            gemini: self.gemini.unwrap_or(base.gemini),
            ollama: self.ollama.unwrap_or(base.ollama),
        }
    }
}

/// Which agents are recorded, and for how long.
#[derive(Clone, Debug)]
pub struct RecordingConfig {
    /// The agents.
    pub agents: Vec<AgentId>,
    /// Whether all agents are recorded.
    pub all: bool,
    /// How long a call is kept.
    pub keep: Duration,
    /// The most bytes of all of them, compressed.
    pub max_size: u64,
}

impl Default for RecordingConfig {
    fn default() -> Self {
        RecordingConfig {
            agents: Vec::new(),
            all: false,
            keep: Duration::from_secs(7 * 24 * 60 * 60),
            max_size: 1 << 30,
        }
    }
}

impl RecordingConfig {
    /// Whether anything is recorded.
    pub fn is_on(&self) -> bool {
        self.all || !self.agents.is_empty()
    }

    /// Whether `agent` is recorded.
    pub fn includes(&self, agent: &AgentId) -> bool {
        self.all || self.agents.contains(agent)
    }
}

/// Limits of the data path.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The largest request body, in bytes.
    pub max_request_body: usize,
    /// The memory for request bodies in flight, in bytes.
    pub bodies_in_flight: usize,
    /// The largest request head, in bytes.
    pub max_header_size: usize,
    /// The most connections of each listener.
    pub max_connections: usize,
    /// How long a client may take to send a request's head.
    pub header_timeout: Duration,
    /// How long a connection to a provider may take.
    pub connect_timeout: Duration,
    /// How long a provider may take to begin its response.
    pub first_byte_timeout: Duration,
    /// How long either side may be silent inside a body.
    pub idle_timeout: Duration,
    /// How long a kill waits for the disk before its call is refused anyway.
    pub kill_commit_timeout: Duration,
    /// The most agents with windows in memory.
    pub max_agents: usize,
    /// The most conversations of one agent with a window.
    pub max_conversations: usize,
}

impl Default for Limits {
    fn default() -> Self {
        let guard = guard::GuardConfig::default();
        Limits {
            max_request_body: 32 << 20,
            bodies_in_flight: 1 << 30,
            max_header_size: 64 << 10,
            max_connections: 10_000,
            header_timeout: Duration::from_secs(10),
            connect_timeout: Duration::from_secs(5),
            first_byte_timeout: Duration::from_secs(120),
            idle_timeout: Duration::from_secs(300),
            kill_commit_timeout: Duration::from_secs(5),
            max_agents: guard.max_agents,
            max_conversations: guard.max_conversations,
        }
    }
}

/// What is logged and how.
#[derive(Clone, Debug)]
pub struct Log {
    /// The format of a line.
    pub format: LogFormat,
    /// A level, or a filter like `info,proxy=debug`.
    pub level: String,
}

impl Default for Log {
    fn default() -> Self {
        Log { format: LogFormat::Text, level: "info".to_owned() }
    }
}

/// The format of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// For programs: one JSON object per line.
    Json,
}

impl LogFormat {
    /// Parses its name.
    pub fn parse(word: &str) -> Option<LogFormat> {
        match word {
            "text" => Some(LogFormat::Text),
            "json" => Some(LogFormat::Json),
            _ => None,
        }
    }
}
