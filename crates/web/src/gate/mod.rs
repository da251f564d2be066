//! Access control, in this order: the requested host, the caller, and the origin of the request.
//! Every answer gets headers that restrict what a browser may do with it.

mod auth;
mod forward_auth;
mod headers;
mod login_redirect;
mod network;
mod oidc;
mod role_map;
mod scope;

pub(crate) use auth::{
    ByCaller, Caller, cookie, holder_of, identify, identify_by_memory, is_token, only_known_callers, require_role,
    session_id,
};
pub use forward_auth::ForwardAuth;
pub(crate) use headers::{PAGE_POLICY, answer_safely};
pub(crate) use login_redirect::{encoded, local_path};
pub use network::{AddressRange, Client, TrustedProxies};
pub(crate) use network::{find_client, only_our_hosts, point_to_proxy, refuse_other_sites};
pub use oidc::OidcLogin;
pub(crate) use oidc::{PendingLogin, log_failure};
pub use role_map::RoleMap;
