//! How the bytes of a stream are cut into events, lines or array elements, however the network
//! slices them.

mod event_frames;
mod json_array;
mod json_lines;
mod sse;

pub(crate) use event_frames::FrameParser;
pub(crate) use json_array::ArrayParser;
pub(crate) use json_lines::LineParser;
pub(crate) use sse::EventParser;
