//! How providers speak: requests, responses and streams are read into `model`'s words, and refusals are written in the
//! caller's own format. No IO: bytes in, values out. What is read is a copy; the two splices that change traffic are in
//! `include_usage` and `model_name`.

mod answer;
mod array;
mod body_shape;
mod chain;
mod chat_completions;
mod choices;
mod client_context;
mod content;
mod conversation;
mod dialect;
mod eight_bytes;
mod endpoint;
mod fenced;
mod gathered;
mod gemini;
mod history;
mod include_usage;
mod json;
mod last_words;
mod lines;
mod message;
mod messages;
mod model_name;
mod ollama;
mod plain_path;
mod prices;
mod providers;
mod refusal;
mod request;
mod responses;
mod said;
mod session;
mod sse;
mod step;
mod text_encoding;
mod transcript;
mod usage;
mod written;

pub use answer::{Answer, AnswerReader};
pub use body_shape::dialect_of_body;
pub use chain::{Chains, Link};
pub use conversation::{conversation_of, is_side_call};
pub use dialect::Dialect;
pub use endpoint::{Endpoint, PathKind};
pub use include_usage::{UsageFilter, ask_for_usage, needs_include_usage};
pub use model_name::{body_with_model, path_with_model};
pub use prices::{Price, Prices, Rates, Unpriced, asked_tokens, body_tokens, estimated_usage, price_line};
pub use providers::{builtin_providers, chat_path};
pub use refusal::{Fault, Refusal, RefusalKind, RefusalStatus, refuse};
pub use request::read_request;
pub use text_encoding::utf8_body;
pub use transcript::{Transcript, TranscriptMessage, read_assistant_message};
