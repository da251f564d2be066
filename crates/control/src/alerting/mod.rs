//! Commands about alerts: channels, rules and the mail server.

mod channels;
mod rules;
mod smtp;

pub use smtp::SmtpChange;
