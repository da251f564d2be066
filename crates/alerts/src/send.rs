//! One attempt to deliver one alert through one channel, and its outcome.

use std::time::{Duration, UNIX_EPOCH};

use egress::{Egress, EgressError, Post, Reply};
use http::{StatusCode, header};
use model::{Channel, ChannelKind, ChannelSettings, Clock, Target, Timestamp};
use secrecy::ExposeSecret;
use store::{Attempt, DeliveryRow, Outcome};

use crate::mail_servers::MailServers;
use crate::mailer::Mailed;
use crate::message::Message;
use crate::redact::hide_address;
use crate::{chat, retry, webhook};

/// How much of an answer the history keeps.
const MAX_ANSWER: usize = 500;

/// Sends alerts.
#[derive(Debug)]
pub(crate) struct Sender {
    pub(crate) egress: Egress,
    pub(crate) mail: MailServers,
    pub(crate) public_url: String,
    pub(crate) clock: Clock,
}

/// The result of an attempt.
#[derive(Debug)]
struct Sent {
    status: Option<u16>,
    answer: String,
    verdict: Verdict,
}

#[derive(Debug)]
enum Verdict {
    Delivered,
    /// Failed; the target may have asked for a pause.
    Failed(Option<Duration>),
    /// A retry would not help.
    Permanent,
    /// The target is gone for good.
    Gone,
}

impl Sender {
    /// Tries to deliver.
    pub(crate) async fn attempt(&self, channel: Option<&Channel>, delivery: &DeliveryRow) -> Attempt {
        let at = self.clock.now();
        let Sent { status, answer, verdict } = self.send(channel, delivery).await;
        let now = self.clock.now();
        let outcome = match verdict {
            Verdict::Delivered => Outcome::Delivered,
            Verdict::Gone => Outcome::Gone,
            Verdict::Permanent => Outcome::GivenUp,
            Verdict::Failed(asked) => {
                retry::next(delivery.tries + 1, now, asked, retry::chance()).map_or(Outcome::GivenUp, Outcome::Again)
            }
        };
        Attempt { at, took_ms: now.millis_since(at), status, answer: printable(&answer), outcome }
    }

    async fn send(&self, channel: Option<&Channel>, delivery: &DeliveryRow) -> Sent {
        let Some(channel) = channel else { return permanent_failure("the channel was deleted") };
        // A test shows whether a channel can be enabled again, so it is sent to a disabled one.
        if !channel.enabled && delivery.alert_type != model::AlertType::Test {
            return permanent_failure("the channel is switched off");
        }
        let Some(settings) = &channel.settings else {
            return permanent_failure(
                "the channel's settings cannot be decrypted: restore the key file or enter them again",
            );
        };
        let Some(message) = Message::of(delivery, &self.public_url) else {
            return permanent_failure("the alert was written by another version and cannot be read");
        };
        if let ChannelSettings::Email { to } = settings {
            return self.mail(to, &message).await;
        }
        match post(settings, &message, self.clock.now()) {
            Some(post) => self.call(post, channel.kind).await,
            None => permanent_failure("the channel's settings are not valid"),
        }
    }

    async fn call(&self, post: Post, kind: ChannelKind) -> Sent {
        let address = post.target.path_and_query();
        match self.egress.post(post).await {
            Ok(reply) => {
                let sent = judge(&reply, kind, self.clock.now());
                Sent { answer: hide_address(&sent.answer, &address), ..sent }
            }
            Err(EgressError::Refused(why)) => permanent_failure(&why),
            Err(EgressError::Failed(answer)) => Sent { status: None, answer, verdict: Verdict::Failed(None) },
        }
    }

    async fn mail(&self, to: &[String], message: &Message) -> Sent {
        match self.mail.send(to, message).await {
            Mailed::Accepted(code, answer) => Sent { status: Some(code), answer, verdict: Verdict::Delivered },
            Mailed::Rejected(status, answer) => Sent { status, answer, verdict: Verdict::Permanent },
            Mailed::Failed(status, answer) => Sent { status, answer, verdict: Verdict::Failed(None) },
        }
    }
}

/// The request for `message`; `None` if the settings are invalid.
fn post(settings: &ChannelSettings, message: &Message, now: Timestamp) -> Option<Post> {
    let target = |url: &str| Target::parse(url).ok();
    match settings {
        ChannelSettings::Webhook { url, secret } => webhook::post(target(url)?, secret, message, now),
        ChannelSettings::Slack { url } => Some(chat::slack(target(url.expose_secret())?, message)),
        ChannelSettings::Discord { url } => Some(chat::discord(target(url.expose_secret())?, message)),
        ChannelSettings::Telegram { url, bot_token, chat_id } => {
            Some(chat::telegram(&target(url)?, bot_token, chat_id, message))
        }
        ChannelSettings::Email { .. } => None,
    }
}

/// The meaning of an answer. Only 2xx is success: a redirect is not followed, so it delivered
/// nothing.
fn judge(reply: &Reply, kind: ChannelKind, now: Timestamp) -> Sent {
    let taken = kind != ChannelKind::Telegram || chat::telegram_is_ok(&reply.body);
    let verdict = match reply.status {
        status if status.is_success() && taken => Verdict::Delivered,
        StatusCode::GONE => Verdict::Gone,
        _ => Verdict::Failed(asked_pause(reply, kind, now)),
    };
    let answer = String::from_utf8_lossy(&reply.body).into_owned();
    Sent { status: Some(reply.status.as_u16()), answer, verdict }
}

/// The pause that the target asked for: in a header as seconds or a date, or in the body of a
/// chat's answer.
fn asked_pause(reply: &Reply, kind: ChannelKind, now: Timestamp) -> Option<Duration> {
    let header = reply.headers.get(header::RETRY_AFTER).and_then(|value| value.to_str().ok()).map(str::trim);
    let seconds = header.and_then(|value| value.parse().ok()).map(Duration::from_secs);
    let until = header.and_then(|value| httpdate::parse_http_date(value).ok());
    let now = UNIX_EPOCH + Duration::from_millis(now.as_millis().max(0).unsigned_abs());
    let date = until.and_then(|until| until.duration_since(now).ok());
    seconds.or(date).or_else(|| match kind {
        ChannelKind::Discord => chat::discord_retry_after(&reply.body),
        ChannelKind::Telegram => chat::telegram_retry_after(&reply.body),
        _ => None,
    })
}

fn permanent_failure(why: &str) -> Sent {
    Sent { status: None, answer: why.to_owned(), verdict: Verdict::Permanent }
}

/// An answer for display: one line of limited length.
fn printable(answer: &str) -> String {
    let line: String = answer.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MAX_ANSWER).collect();
    line.trim().to_owned()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// The outcome of an answer as a word, and its pause in seconds.
    fn check(
        status: u16,
        retry_after: Option<&str>,
        body: &'static str,
        kind: ChannelKind,
    ) -> (&'static str, Option<u64>) {
        let mut headers = http::HeaderMap::new();
        if let Some(value) = retry_after {
            headers.insert(header::RETRY_AFTER, value.parse().unwrap());
        }
        let reply = Reply { status: StatusCode::from_u16(status).unwrap(), headers, body: body.into() };
        let noon = Timestamp::parse("2026-11-15T12:00:00Z").unwrap();
        match judge(&reply, kind, noon).verdict {
            Verdict::Delivered => ("delivered", None),
            Verdict::Failed(pause) => ("failed", pause.map(|pause| pause.as_secs())),
            Verdict::Permanent => ("hopeless", None),
            Verdict::Gone => ("gone", None),
        }
    }

    #[test]
    fn answers_follow_standard_webhooks() {
        use ChannelKind::{Discord, Slack, Telegram, Webhook};
        assert_eq!(check(200, None, "", Webhook), ("delivered", None));
        assert_eq!(check(204, None, "", Discord), ("delivered", None));
        for status in [301, 302, 307, 400, 404, 500, 503] {
            assert_eq!(check(status, None, "", Webhook), ("failed", None), "{status}");
        }
        assert_eq!(check(410, None, "", Slack), ("gone", None));
        assert_eq!(check(200, None, r#"{"ok":true}"#, Telegram), ("delivered", None));
        assert_eq!(check(200, None, "<html>", Telegram), ("failed", None));
    }

    #[test]
    fn retry_pause_is_read_from_headers_and_bodies() {
        use ChannelKind::{Discord, Slack, Telegram, Webhook};
        assert_eq!(check(429, Some("120"), "", Slack), ("failed", Some(120)));
        assert_eq!(check(503, Some("Sun, 15 Nov 2026 12:05:00 GMT"), "", Webhook), ("failed", Some(300)));
        assert_eq!(check(503, Some("Sun, 15 Nov 2026 11:00:00 GMT"), "", Webhook), ("failed", None));
        assert_eq!(check(503, Some("soon"), "", Webhook), ("failed", None));
        assert_eq!(check(429, None, r#"{"retry_after":7.5}"#, Discord), ("failed", Some(7)));
        assert_eq!(check(429, None, r#"{"ok":false,"parameters":{"retry_after":9}}"#, Telegram), ("failed", Some(9)));
    }

    #[test]
    fn an_answer_is_one_line_and_not_endless() {
        assert_eq!(printable("  a\r\nb\u{1b}[31m "), "a  b [31m");
        assert_eq!(printable(&"x".repeat(5000)).len(), MAX_ANSWER);
    }
}
