//! Where a request comes from and where it was sent to: the client's address behind trusted
//! proxies, the requested host and port, and the origin of the page.

mod client;
mod host;
mod origin;
mod trusted_proxies;
mod wrong_port;

pub use client::Client;
pub(crate) use host::only_our_hosts;
pub(crate) use origin::refuse_other_sites;
pub(crate) use trusted_proxies::find_client;
pub use trusted_proxies::{AddressRange, TrustedProxies};
pub(crate) use wrong_port::point_to_proxy;
