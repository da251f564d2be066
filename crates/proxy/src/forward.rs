//! The pipeline of one call: active? → route → policy → read → reserve → score → still active? →
//! send → tee. Each stage is a type that holds only what it may use: [`Received`], [`Admitted`],
//! then [`Answering`](crate::answer::Answering) until the call is recorded.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, Response, StatusCode};
use hyper::body::Incoming;
use model::{Format, Provider, Unscored};
use wire::Endpoint;

use crate::agreement;
use crate::answer::body::Body;
use crate::answer::expected::Expected;
use crate::answer::tee::tee;
use crate::answer::usage;
use crate::call::Call;
use crate::credentials::agent_key;
use crate::detection;
use crate::error::Stop;
use crate::headers;
use crate::policy::CallPolicy;
use crate::policy::model_override::{ModelPlaces, override_model};
use crate::request::conversation::{Found, find_conversation};
use crate::request::read::{ReadBody, ReadRequest, earlier_answers};
use crate::request::route::{Identified, Route};
use crate::truncate;
use crate::upload::{Outgoing, Upload};
use crate::upstream::connections::Connection;
use crate::upstream::destination::Destination;

/// A received call. Its body has not been read.
pub(crate) struct Received<'a> {
    call: Box<Call>,
    /// `None` if no provider has the name in the route.
    provider: Option<Arc<Provider>>,
    /// The format of the provider.
    format: Format,
    route: Route<'a>,
    parts: Parts,
    upload: Upload,
}

impl<'a> Received<'a> {
    /// The identified call with the rest of its request. Boxed, because it is moved from stage to
    /// stage.
    pub(crate) fn new(identified: Identified, route: Route<'a>, parts: Parts, upload: Upload) -> Box<Received<'a>> {
        let Identified { call, provider, format } = identified;
        Box::new(Received { call, provider, format, route, parts, upload })
    }
}

/// A call that may be sent to its provider.
struct Admitted<'a> {
    destination: Arc<Destination>,
    path: Cow<'a, str>,
    /// The body, if it was read.
    body: Option<Bytes>,
    expected: Expected,
}

/// Forwards a call to its provider, or refuses it.
pub(crate) async fn forward(mut received: Box<Received<'_>>) -> Response<Body> {
    match admit(&mut received).await {
        Ok(admitted) => send(received, admitted).await,
        Err(stop) => {
            received.upload.discard();
            received.call.stop(stop).await.map(Body::from)
        }
    }
}

/// Makes all checks that may refuse a call, the cheapest first.
async fn admit<'a>(received: &mut Received<'a>) -> Result<Admitted<'a>, Stop> {
    let Received { call, provider, format, route, parts, upload } = received;
    // Checked first, even for an inactive agent: Codex then retries over HTTP, and shows why it is
    // refused.
    refuse_other_than_http(&parts.headers)?;
    // Before the body is read: an inactive agent must cost nothing.
    call.check_active().await?;

    let destination = call.core.destinations.get(provider.take())?;
    call.event.provider = Some(route.provider.to_owned());
    let had_secret = agent_key::strip_headers(&mut parts.headers, &call.core.config.own_tokens);
    if had_secret || destination.drops_from(route.query) {
        destination.check_credential(&parts.headers, route.query)?;
    }
    let policy = CallPolicy::check(call, route.provider)?;
    let path = route.path(&parts.method, *format)?;
    upload.check_length()?;

    match find_conversation(&call.core, *format, path, parts, upload).await? {
        Found::Conversation(endpoint, body) => {
            admit_conversation(call, &policy, parts, Conversation { destination, path, endpoint, body }).await
        }
        Found::Nothing(reason, body) => {
            policy.reserve_unknown(call).await?;
            agreement::agree(call, &policy, None).await?;
            call.note_unscored(reason);
            let expected = Expected::without_conversation(&parts.method, path);
            Ok(Admitted { destination, path: path.into(), body, expected })
        }
    }
}

/// A request that carries a conversation.
struct Conversation<'a> {
    destination: Arc<Destination>,
    path: &'a str,
    endpoint: Endpoint<'a>,
    body: ReadBody,
}

/// Reads a conversation, reserves what it may use, and asks the detector.
async fn admit_conversation<'a>(
    call: &mut Call,
    policy: &CallPolicy,
    parts: &mut Parts,
    conversation: Conversation<'a>,
) -> Result<Admitted<'a>, Stop> {
    let Conversation { destination, path, endpoint, mut body } = conversation;
    let core = Arc::clone(&call.core);
    call.event.model = endpoint.model.map(truncate::model_name);
    call.event.streamed = endpoint.streams;
    let mut expected = Expected::of_conversation(endpoint.dialect);

    let asked = core.blocking.run(body.length(), || body.read_json(&core, endpoint.dialect)).await;
    let earlier = asked.as_ref().map(|asked| earlier_answers(&core, &call.event.agent, asked));
    let earlier = earlier.unwrap_or_default();
    let complete = |asked| core.catch_panic.run(|| ReadRequest::new(call, &parts.headers, &body, asked, &earlier));
    let request = asked.and_then(|asked| complete(asked).unwrap_or(Err(Unscored::DetectionFailed)));

    let model = policy.reserve(call, request.as_ref(), body.raw.len()).await?;
    match request {
        Ok(request) => {
            expected.set_request(&request);
            detection::judge(call, policy, endpoint.dialect, request).await?;
        }
        Err(reason) => {
            agreement::agree(call, policy, None).await?;
            call.note_unscored(reason);
            expected.asked_tokens = core.catch_panic.run(|| wire::body_tokens(&body.raw)).unwrap_or_default();
        }
    }
    let mut path = Cow::Borrowed(path);
    if let Some(model) = model {
        let headers = &mut parts.headers;
        let places = ModelPlaces { in_path: endpoint.model, path: &mut path, headers, body: &mut body };
        override_model(&model, places, &mut call.event);
    }
    Ok(Admitted { destination, path, body: Some(body.raw), expected })
}

/// Sends an admitted call to its provider, and passes the answer on.
async fn send(received: Box<Received<'_>>, admitted: Admitted<'_>) -> Response<Body> {
    let Received { mut call, route, mut parts, upload, .. } = *received;
    let Admitted { destination, path, body, mut expected } = admitted;
    // Kept until the answer begins; until then its body counts against the body budget.
    let (outgoing, _in_flight) = match body {
        Some(whole) => {
            let whole = usage::ask_for_usage(&call, &mut expected, &destination, &mut parts.headers, whole);
            (Outgoing::Whole(whole), Some(upload))
        }
        None => (Outgoing::passing(upload), None),
    };
    // Reading took time: no call is sent after a kill, or with a key that was revoked meanwhile.
    if let Err(stop) = call.check_again().await {
        return call.stop(stop).await.map(Body::from);
    }
    let sent = match destination.request(&path, route.query, parts, outgoing) {
        Ok(request) => {
            let (core, sent_tokens) = (Arc::clone(&call.core), expected.charged_tokens());
            core.upstream.send(&destination, request, || call.sent_tokens = sent_tokens).await
        }
        Err(stop) => Err(stop),
    };
    match sent.and_then(check_answer) {
        Ok((answer, connection)) => tee(call, expected, answer, connection),
        Err(stop) => call.stop(stop).await.map(Body::from),
    }
}

/// Refuses an answer that switches protocols, or whose body cannot be passed on.
fn check_answer(answer: (Response<Incoming>, Connection)) -> Result<(Response<Incoming>, Connection), Stop> {
    let refuse = |message: &str| Err(Stop::Upstream(StatusCode::BAD_GATEWAY, message.to_owned()));
    if answer.0.status() == StatusCode::SWITCHING_PROTOCOLS {
        // The request did not ask for it, and the detector cannot read what follows.
        return refuse("the provider left HTTP without being asked to");
    }
    if headers::has_foreign_transfer_coding(answer.0.headers()) {
        return refuse("the provider answered in a transfer coding other than chunked, which ends here");
    }
    Ok(answer)
}

/// Refuses a WebSocket, which the detector cannot read, and a body in a transfer coding, which
/// cannot be passed on. Other upgrades are offers that may be declined: the header is dropped
/// later.
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
