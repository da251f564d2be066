//! Commands about the server itself: start, demo provider, drill, token and TLS.

mod drill;
mod provider;
mod start;
mod tls;
mod token;

pub use drill::drill;
pub use provider::provider;
pub use start::start;
pub use tls::tls;
pub use token::token;
