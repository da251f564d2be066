//! The wire formats of providers: requests, responses and streams are read into the types of
//! `model`, and refusals are written in the caller's own format. No IO: bytes in, values out.
//! Everything here reads a copy; only `splice` changes traffic.

mod answer;
mod content;
mod dialect;
mod endpoint;
mod json;
mod percent_decoding;
mod prices;
mod refusal;
mod request;
mod splice;
mod tool_call;

pub use answer::{Answer, AnswerReader, error_excerpt, error_message, read_assistant_message};
pub use dialect::Dialect;
pub use endpoint::{Endpoint, PathKind, builtin_providers, chat_path, dialect_of_body};
pub use json::JsonTotals;
pub use percent_decoding::percent_decoded;
pub use prices::{Price, Prices, Rates, Unpriced, asked_tokens, body_tokens, estimated_usage, price_line};
pub use refusal::{Fault, Refusal, RefusalKind, RefusalStatus, refuse};
pub use request::{
    Chains, EarlierAnswers, KeptLink, RebuiltPrompt, RebuiltPrompts, RunId, Transcript, TranscriptMessage,
    conversation_of, is_side_call, read_request, utf8_body,
};
pub use splice::{UsageFilter, ask_for_usage, body_with_model, needs_include_usage, path_with_model};
