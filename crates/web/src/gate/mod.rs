//! Access control, in this order: the host that is asked for, the caller, and the site that the
//! request comes from. Every answer gets headers that restrict what a browser may do with it.

mod auth;
mod client;
mod forward_auth;
mod guess_limit;
mod headers;
mod host;
mod origin;
mod session;
mod session_lines;
mod session_storage;
mod trusted_proxies;
mod wrong_port;

pub(crate) use auth::{
    ByCaller, Caller, cookie, holder_of, identify, is_token, only_known_callers, require_role, session_id,
};
pub use client::{Client, Network};
pub use forward_auth::ForwardAuth;
pub(crate) use guess_limit::{AccountLimit, GuessLimit};
pub(crate) use headers::{PAGE_POLICY, answer_safely};
pub(crate) use host::only_our_hosts;
pub(crate) use origin::refuse_other_sites;
pub(crate) use session::{Owner, Session, Sessions, clear_cookie, set_cookie};
pub use session_storage::SessionStorage;
pub(crate) use trusted_proxies::find_client;
pub use trusted_proxies::{AddressRange, TrustedProxies};
pub(crate) use wrong_port::point_to_proxy;
