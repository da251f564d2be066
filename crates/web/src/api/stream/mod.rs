//! Live events (server-sent events) for the dashboard and for programs.

mod batch;
mod changes;
mod feed;

use std::convert::Infallible;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use tokio::time::{Instant, interval, sleep};
use tokio_stream::wrappers::{BroadcastStream, IntervalStream};
use tokio_stream::{Stream, StreamExt};
use utoipa::IntoParams;

use changes::Pending;
pub(crate) use feed::Feed;
use feed::Subscription;

use crate::app::App;
use crate::event_reader::EventReader;
use crate::gate::{Client, identify_by_memory};
use crate::input::Filters;
use crate::logins::Sessions;
use crate::problem::{Problem, Refusals};

/// How soon a stream ends once the server stops, which an endless answer would delay, or once its
/// session or token is revoked.
const END_CHECK: Duration = Duration::from_millis(500);

/// A comment is sent once in this many checks (15 s), so that proxies on the way do not take the
/// stream for dead.
const CHECKS_PER_COMMENT: u32 = 30;

const COMMENT: Bytes = Bytes::from_static(b":\n\n");

/// A page gets a sign of life once in this many checks (5 s): scripts do not see comments, and a
/// server that hangs ends no connection.
const CHECKS_PER_ALIVE: u32 = 10;

const ALIVE: Bytes = Bytes::from_static(b"event: alive\ndata: {}\n\n");

/// The parameters of the stream.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct StreamQuery {
    /// Whether to send only that something has changed, for pages that request the rest themselves.
    changes: Option<bool>,
}

/// Calls, blocks, kills, activations, incidents and settings as they are written, in batches: ten a
/// second at most.
///
/// Events: `call`, `blocked`, `kill`, `activated`, `deactivated` (data: an Event), `incident`
/// (`id`, `agent_id`), `configured` (`agent_id`, `kill_switch`), and `lagged` (`missed`) if a
/// client is too slow or more calls are made than a batch holds. At most 200 clients may watch at a
/// time.
///
/// With `changes=true` the stream only says that something has changed: `changed` (`agents`, `null`
/// if there are many, and `urgent` if something other than calls has happened), at most once in two
/// seconds unless it is urgent; `kill` (`agent_id`, `incident_id`); and `alive` every five seconds.
#[utoipa::path(get, path = "/api/stream", tag = "stream", operation_id = "stream", params(StreamQuery),
    responses((status = 200, body = String, content_type = "text/event-stream"), Refusals))]
pub(crate) async fn get(
    State(app): State<App>,
    State(feed): State<Feed>,
    client: Client,
    headers: HeaderMap,
    Filters(query): Filters<StreamQuery>,
) -> Result<Response, Problem> {
    let subscription = feed.subscribe(&app.web().recorder).ok_or_else(too_many)?;
    let sessions = app.sessions.clone();
    let reader = EventReader::new(app.clone(), identify_by_memory(&app, &headers, &client));
    let reads_errors = reader.reads_all();
    // A stream outlives neither its session nor its token.
    let goes_on = move || !app.is_draining() && identify_by_memory(&app, &headers, &client).is_some();
    let body = if query.changes == Some(true) {
        body(refreshing(watch_changes(subscription), sessions).take_while(move |_| goes_on()))
    } else {
        body(refreshing(watch(subscription, reads_errors), sessions).take_while(move |_| goes_on()))
    };
    let headers = [(CONTENT_TYPE, "text/event-stream"), (CACHE_CONTROL, "no-cache")];
    Ok((headers, body).into_response())
}

/// The same text; before each piece, checks for sessions that other servers have ended.
fn refreshing<T>(text: impl Stream<Item = T>, sessions: Sessions) -> impl Stream<Item = T> {
    text.then(move |piece| {
        let sessions = sessions.clone();
        async move {
            sessions.refresh_lately().await;
            piece
        }
    })
}

fn body(text: impl Stream<Item = Option<Bytes>> + Send + 'static) -> Body {
    Body::from_stream(text.filter_map(|chunk| Some(Ok::<_, Infallible>(chunk?))))
}

/// The text for one page; `None` when there is nothing to send now.
fn watch_changes(subscription: Subscription) -> impl Stream<Item = Option<Bytes>> {
    let Subscription { batches, mut next, place, .. } = subscription;
    let batches = BroadcastStream::new(batches).filter_map(|batch| batch.ok()).map(Some);
    let checks = IntervalStream::new(interval(END_CHECK)).map(|_| None);
    let (mut pending, mut count) = (Pending::default(), 0);
    batches.merge(checks).map(move |batch| {
        let _held = &place;
        if let Some(batch) = &batch {
            pending.add(batch.changes(), batch.first > next);
            next = batch.first + batch.count;
        } else {
            count = (count + 1) % CHECKS_PER_ALIVE;
        }
        let alive = (batch.is_none() && count == 0).then_some(ALIVE);
        pending.take(Instant::now()).or(alive)
    })
}

/// The text for one watcher; `None` if it only has to check whether the watcher is still allowed.
fn watch(subscription: Subscription, reads_errors: bool) -> impl Stream<Item = Option<Bytes>> {
    let Subscription { batches, delay, mut next, place } = subscription;
    let batches = BroadcastStream::new(batches).then(move |batch| async move {
        // Watchers write at different moments, so that calls of agents never wait behind all of
        // them.
        sleep(delay).await;
        batch.ok()
    });
    let batches = batches.map(move |batch| {
        let _held = &place;
        // The next batch tells a watcher that fell behind how many events it missed, by their
        // numbers.
        let batch = batch?;
        let missed = batch.first.saturating_sub(next);
        next = batch.first + batch.count;
        Some(batch.text_after(missed, reads_errors))
    });
    let mut checks = 0;
    let checks = IntervalStream::new(interval(END_CHECK)).map(move |_| {
        checks = (checks + 1) % CHECKS_PER_COMMENT;
        (checks == 0).then_some(COMMENT)
    });
    batches.merge(checks)
}

fn too_many() -> Problem {
    let detail = format!("{} clients watch already, which is the limit. Close one, or poll /api/events.", Feed::MAX);
    Problem::unavailable(detail)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::Arc;

    use tokio::sync::{Semaphore, broadcast};

    use super::batch::BatchBuilder;
    use super::*;

    #[tokio::test]
    async fn slow_watcher_gets_the_number_of_missed_events() {
        let (sender, batches) = broadcast::channel(2);
        let place = Arc::new(Semaphore::new(1)).try_acquire_owned().unwrap();
        let watcher = watch(Subscription { batches, delay: Duration::ZERO, next: 0, place }, true);
        for number in 0..5 {
            let mut batch = BatchBuilder::default();
            batch.skip(10);
            sender.send(batch.finish(number * 10)).unwrap();
        }
        let mut texts = Box::pin(watcher.filter_map(|text| text));
        assert!(texts.next().await.unwrap().starts_with(b"event: lagged\ndata: {\"missed\":30}\n\n"));
    }
}
