//! How providers speak: requests, responses and streams are read into `model`'s words, and refusals are written in the
//! caller's own format. No IO: bytes in, values out; what is read is a copy, so nothing here can change the traffic.

mod answer;
mod chat_completions;
mod content;
mod conversation;
mod dialect;
mod eight_bytes;
mod history;
mod json;
mod message;
mod messages;
mod providers;
mod refusal;
mod request;
mod said;
mod session;
mod sse;
mod step;
mod transcript;

pub use answer::{Answer, AnswerReader};
pub use conversation::conversation_of;
pub use dialect::Dialect;
pub use providers::{builtin_providers, chat_path};
pub use refusal::{Refusal, RefusalKind, refuse, stream_error};
pub use request::{Unread, read_request};
pub use transcript::{Transcript, read_assistant_message};
