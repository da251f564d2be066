//! Who may come in, and from where. In this order: the host that is asked, who asks, and from which site; every answer gets
//! the headers that keep a browser from doing more with it than showing it.

mod client;
mod guess_limit;
mod headers;
mod host;
mod origin;
mod session;
mod who;
mod wrong_port;

pub use client::{Client, Network};
pub(crate) use guess_limit::GuessLimit;
pub(crate) use headers::{PAGE_POLICY, answer_safely};
pub(crate) use host::only_our_hosts;
pub(crate) use origin::refuse_other_sites;
pub(crate) use session::{Sessions, clear_cookie, set_cookie};
pub(crate) use who::{Caller, cookie, is_known, is_token, only_known_callers, session_id};
pub(crate) use wrong_port::point_to_proxy;
