//! Connections: hostile, slow and half-closed clients, floods, TLS, and the memory of streams.

mod dashboard_flood;
mod half_close;
mod hostile;
mod stream_memory;
mod tls;
