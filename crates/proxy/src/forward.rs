//! The whole way of one call: active? → where to → policy? → read → reserve → score → still active? → dial → tee.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use guard::{Decision, Verdict};
use http::request::Parts;
use http::{HeaderMap, Response, StatusCode};
use hyper::body::Incoming;
use model::{DeactivatedBy, Deactivation, Kill};
use wire::Endpoint;

use crate::body::Body;
use crate::conversation::{Found, find_conversation};
use crate::decoding::Encoding;
use crate::destination::Destination;
use crate::error::Stop;
use crate::exchange::Exchange;
use crate::headers;
use crate::incident;
use crate::route::Route;
use crate::tee::tee;
use crate::upload::{Outgoing, Upload};

/// Forwards a call to its provider, or refuses it.
pub(crate) async fn forward(
    mut exchange: Box<Exchange>,
    route: Route<'_>,
    mut parts: Parts,
    body: Incoming,
) -> Response<Body> {
    let mut upload = Upload::new(body, &exchange.core.config);
    let (destination, path, body) = match admit(&mut exchange, &route, &mut parts, &mut upload).await {
        Ok(admitted) => admitted,
        Err(stop) => {
            upload.discard();
            return exchange.stop(stop);
        }
    };
    // An upload that was read whole stays until the answer begins: so long its body takes room.
    let outgoing = match body {
        Some(whole) => Outgoing::Whole(exchange.ask_for_usage(&destination, &mut parts.headers, whole)),
        None => Outgoing::passing(upload),
    };
    // Again, because reading took its time: no call is dialled after a kill.
    if let Err(stop) = exchange.check_active().await {
        return exchange.stop(stop);
    }
    let begun = match destination.request(&path, route.query, parts, outgoing) {
        Ok(request) => exchange.core.upstream.send(&destination, request).await,
        Err(stop) => Err(stop),
    };
    match begun.and_then(|(answer, connection)| Ok((in_http(answer)?, connection))) {
        Ok((answer, connection)) => tee(exchange, answer, connection),
        Err(stop) => exchange.stop(stop),
    }
}

/// Where to, which path there, and the body where it had to be read.
type Admitted<'a> = (Arc<Destination>, Cow<'a, str>, Option<Bytes>);

/// Everything that may speak against a call, each check before the next.
async fn admit<'a>(
    exchange: &mut Exchange,
    route: &Route<'a>,
    parts: &mut Parts,
    upload: &mut Upload,
) -> Result<Admitted<'a>, Stop> {
    // First of all, and also of an inactive agent: Codex then calls again by HTTP, and there shows why it is refused.
    refuse_other_than_http(&parts.headers)?;
    // Before the body is read: an inactive agent must cost us nothing.
    exchange.check_active().await?;

    let destination = exchange.core.destinations.get(exchange.provider.take())?;
    exchange.event.provider = Some(route.provider.to_owned());
    exchange.check_policy(route.provider)?;
    let path = route.path(&parts.method, exchange.format)?;
    upload.check_length()?;

    let (endpoint, mut body) = match find_conversation(exchange, path, parts, upload).await? {
        Found::Conversation(endpoint, body) => (endpoint, body),
        Found::Nothing(reason, body) => {
            exchange.reserve(&parts.headers, None).await?;
            exchange.pass_unscored(reason);
            exchange.embeds = Endpoint::embeds(&parts.method, path);
            return Ok((destination, path.into(), body));
        }
    };
    exchange.converses(endpoint);
    exchange.reserve(&parts.headers, Some(&body)).await?;
    judge(exchange, &parts.headers, &body).await?;
    let mut path = Cow::Borrowed(path);
    exchange.put_model(endpoint.model, &mut path, &mut parts.headers, &mut body);
    Ok((destination, path, Some(body)))
}

/// Refuses an answer that leaves HTTP, or whose body cannot be passed on.
fn in_http(answer: Response<Incoming>) -> Result<Response<Incoming>, Stop> {
    if answer.status() == StatusCode::SWITCHING_PROTOCOLS {
        // Nobody asked for it, and what followed would pass the detector by.
        let message = "the provider left HTTP without being asked to".to_owned();
        return Err(Stop::Upstream(StatusCode::BAD_GATEWAY, message));
    }
    if headers::has_foreign_transfer_coding(answer.headers()) {
        let message = "the provider answered in a transfer coding other than chunked, which ends here".to_owned();
        return Err(Stop::Upstream(StatusCode::BAD_GATEWAY, message));
    }
    Ok(answer)
}

/// A conversation that leaves HTTP would pass the detector by, and a body in a coding of this hop cannot be passed on. Any
/// other upgrade is an offer that may be declined: the header ends here, and the request goes on as it is.
fn refuse_other_than_http(headers: &HeaderMap) -> Result<(), Stop> {
    if headers::wants_websocket(headers) {
        let message = "WebSocket is not supported here: use HTTP requests".to_owned();
        return Err(Stop::Client(StatusCode::UPGRADE_REQUIRED, message));
    }
    if headers::has_foreign_transfer_coding(headers) {
        let message = "no transfer coding but chunked is supported here: use content-encoding".to_owned();
        return Err(Stop::Client(StatusCode::NOT_IMPLEMENTED, message));
    }
    Ok(())
}

/// Scores a call and does what the verdict says.
async fn judge(exchange: &mut Exchange, headers: &HeaderMap, body: &Bytes) -> Result<(), Stop> {
    let core = Arc::clone(&exchange.core);
    let scored = match core.aside.run(Encoding::length(headers, body), || exchange.score(headers, body)).await {
        None => return Ok(()),
        Some(Decision::Inactive(deactivation)) => return Err(exchange.inactive(deactivation).await),
        Some(Decision::Scored(scored)) => scored,
    };
    match scored.verdict {
        Verdict::Pass | Verdict::Observe(None) => Ok(()),
        Verdict::WouldHaveStopped => {
            exchange.event.would_have_stopped = true;
            Ok(())
        }
        Verdict::Observe(Some(kill)) => {
            exchange.event.incident = Some(kill.incident);
            incident::record_observed(&exchange.core, kill, &exchange.event);
            Ok(())
        }
        Verdict::Block => Err(Stop::LoopDetected),
        Verdict::Kill(kill) => Err(carry_out(exchange, kill).await),
    }
}

/// Records the kill and waits until it is on disk: only then is the call answered.
async fn carry_out(exchange: &mut Exchange, kill: Kill) -> Stop {
    let deactivation = Deactivation { by: DeactivatedBy::KillSwitch, at: kill.at, incident: Some(kill.incident) };
    let event = exchange.kill_event(kill.incident);
    incident::record_kill(&exchange.core, kill, event);
    exchange.inactive(deactivation).await
}
