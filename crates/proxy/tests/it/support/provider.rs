//! The provider that these tests script byte by byte.

pub use fake_provider::raw::{
    ByteProvider as FakeProvider, LAST_CHUNK, Received, Step, chat_answer, chat_stream, chunk, stream_head, whole,
};
