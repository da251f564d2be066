//! Bytes on their way: unchanged, framed, and broken off.

mod faults;
mod framing;
mod identity;
mod provider_errors;
