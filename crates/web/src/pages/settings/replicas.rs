//! The servers that share a database: which of them live, and how far each is behind.

use askama::Template;
use axum::extract::State;
use model::Timestamp;

use crate::api::replicas::{self, ReplicaView};
use crate::app::App;
use crate::pages::frame::Frame;
use crate::pages::number::Moment;
use crate::pages::words::labels as words;
use crate::pages::{Drawn, assets, draw};

#[derive(Template)]
#[template(path = "replicas.html")]
struct ReplicasPage {
    frame: Frame,
    summary: String,
    /// Whether a server is silent.
    is_alarming: bool,
    replicas: Vec<ReplicaLine>,
    /// Whether this server shares its database.
    is_shared: bool,
}

struct ReplicaLine {
    view: ReplicaView,
    started: Moment,
    heard: Moment,
}

fn before(now: Timestamp, millis: u64) -> Timestamp {
    Timestamp::from_millis(now.as_millis().saturating_sub_unsigned(millis))
}

/// Draws the page.
pub(crate) async fn show(State(app): State<App>, frame: Frame) -> Drawn {
    let now = app.web().clock.now();
    let line = |view: ReplicaView| ReplicaLine {
        started: Moment::new(view.started_at, now),
        heard: Moment::new(before(now, view.silent_ms), now),
        view,
    };
    let replicas: Vec<ReplicaLine> = replicas::read(&app).await?.into_iter().map(line).collect();
    let alive = replicas.iter().filter(|replica| replica.view.is_alive).count();
    let (summary, is_alarming) = (words::replicas(alive, replicas.len()), alive < replicas.len());
    draw(&ReplicasPage { frame, summary, is_alarming, replicas, is_shared: app.web().store.is_shared() })
}
