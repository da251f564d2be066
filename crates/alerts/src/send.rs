//! One attempt to deliver one alert through one channel, and what follows from it.

use std::time::Duration;

use http::{StatusCode, header};
use model::{Channel, ChannelKind, ChannelSettings, Clock, Target, Timestamp};
use secrecy::ExposeSecret;
use store::{Attempt, DeliveryRow, Outcome};

use crate::egress::{Egress, EgressError, Post, Reply};
use crate::mailer::{Mailed, Mailer};
use crate::message::Message;
use crate::{chat, retry, webhook};

/// How much of an answer the history keeps.
const MAX_ANSWER: usize = 500;

/// Sends alerts.
#[derive(Debug)]
pub(crate) struct Sender {
    pub(crate) egress: Egress,
    pub(crate) mailer: Option<Mailer>,
    pub(crate) public_url: String,
    pub(crate) clock: Clock,
}

/// How an attempt went.
#[derive(Debug)]
struct Sent {
    status: Option<u16>,
    answer: String,
    verdict: Verdict,
}

#[derive(Debug)]
enum Verdict {
    Delivered,
    /// Not this time; the target may have asked for a pause.
    Failed(Option<Duration>),
    /// Trying again would not help.
    Hopeless,
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
            Verdict::Hopeless => Outcome::GivenUp,
            Verdict::Failed(asked) => {
                retry::next(delivery.tries + 1, now, asked, retry::chance()).map_or(Outcome::GivenUp, Outcome::Again)
            }
        };
        Attempt { at, took_ms: now.millis_since(at), status, answer: printable(&answer), outcome }
    }

    async fn send(&self, channel: Option<&Channel>, delivery: &DeliveryRow) -> Sent {
        let Some(channel) = channel else { return hopeless("the channel was deleted") };
        // A test is what tells whether a channel should be switched on again.
        if !channel.enabled && delivery.alert_type != model::AlertType::Test {
            return hopeless("the channel is switched off");
        }
        let Some(settings) = &channel.settings else {
            return hopeless("the channel's settings cannot be decrypted: restore the key file or enter them again");
        };
        let Some(message) = Message::of(delivery, &self.public_url) else {
            return hopeless("the alert was written by another version and cannot be read");
        };
        if let ChannelSettings::Email { to } = settings {
            return self.mail(to, &message).await;
        }
        match post(settings, &message, self.clock.now()) {
            Some(post) => self.call(post, channel.kind).await,
            None => hopeless("the channel's settings are not valid"),
        }
    }

    async fn call(&self, post: Post, kind: ChannelKind) -> Sent {
        match self.egress.post(post).await {
            Ok(reply) => judged(&reply, kind),
            Err(EgressError::Refused(why)) => hopeless(&why),
            Err(EgressError::Failed(answer)) => Sent { status: None, answer, verdict: Verdict::Failed(None) },
        }
    }

    async fn mail(&self, to: &[String], message: &Message) -> Sent {
        let Some(mailer) = &self.mailer else {
            return hopeless("no mail server is configured: set smtp.host and smtp.from");
        };
        match mailer.send(to, message).await {
            Mailed::Accepted(code, answer) => Sent { status: Some(code), answer, verdict: Verdict::Delivered },
            Mailed::Rejected(status, answer) => Sent { status, answer, verdict: Verdict::Hopeless },
            Mailed::Failed(status, answer) => Sent { status, answer, verdict: Verdict::Failed(None) },
        }
    }
}

/// The request that tells `message`; none if the settings are not valid.
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

/// What an answer means. Only 2xx is success: a redirect that is not followed has not delivered anything.
fn judged(reply: &Reply, kind: ChannelKind) -> Sent {
    let taken = kind != ChannelKind::Telegram || chat::telegram_is_ok(&reply.body);
    let verdict = match reply.status {
        status if status.is_success() && taken => Verdict::Delivered,
        StatusCode::GONE => Verdict::Gone,
        _ => Verdict::Failed(asked_pause(reply, kind)),
    };
    let answer = String::from_utf8_lossy(&reply.body).into_owned();
    Sent { status: Some(reply.status.as_u16()), answer, verdict }
}

/// The pause that the target asked for.
fn asked_pause(reply: &Reply, kind: ChannelKind) -> Option<Duration> {
    let header = reply.headers.get(header::RETRY_AFTER).and_then(|value| value.to_str().ok());
    let seconds = header.and_then(|value| value.trim().parse().ok()).map(Duration::from_secs);
    seconds.or_else(|| match kind {
        ChannelKind::Discord => chat::discord_retry_after(&reply.body),
        ChannelKind::Telegram => chat::telegram_retry_after(&reply.body),
        _ => None,
    })
}

fn hopeless(why: &str) -> Sent {
    Sent { status: None, answer: why.to_owned(), verdict: Verdict::Hopeless }
}

/// An answer for people: one line, not endless.
fn printable(answer: &str) -> String {
    let line: String = answer.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MAX_ANSWER).collect();
    line.trim().to_owned()
}
