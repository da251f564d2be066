//! The status of permanent refusals.

use http::StatusCode;
use model::Format;

/// The status of calls that are refused because the agent is inactive, a budget is spent or the
/// hour is not allowed. Each format has the one at which most of its clients stop after one
/// request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefusalStatus {
    /// Codex sends one request at 400 and six at 403.
    pub openai: StatusCode,
    /// Claude Code sends one request at 403 and six at 400.
    pub anthropic: StatusCode,
    /// Gemini CLI never retries 400.
    pub gemini: StatusCode,
    /// As `openai`.
    pub ollama: StatusCode,
}

impl Default for RefusalStatus {
    fn default() -> Self {
        RefusalStatus { anthropic: StatusCode::FORBIDDEN, ..RefusalStatus::all(StatusCode::BAD_REQUEST) }
    }
}

impl RefusalStatus {
    /// The same status for every format.
    pub fn all(status: StatusCode) -> RefusalStatus {
        RefusalStatus { openai: status, anthropic: status, gemini: status, ollama: status }
    }

    /// The status for callers of `format`.
    pub fn of(&self, format: Format) -> StatusCode {
        match format {
            Format::Openai => self.openai,
            Format::Anthropic => self.anthropic,
            Format::Gemini => self.gemini,
            Format::Ollama => self.ollama,
        }
    }
}
