//! The servers that share a database: which of them are alive, and how far each lags behind.

use askama::Template;
use axum::extract::State;

use crate::api::replicas::{self, ReplicaView};
use crate::app::App;
use crate::pages::frame::Frame;
use crate::pages::number::Moment;
use crate::pages::words::labels as words;
use crate::pages::{PageResult, assets, draw};

#[derive(Template)]
#[template(path = "replicas.html")]
struct ReplicasPage {
    frame: Frame,
    summary: String,
    /// Whether a server is silent or decides alone.
    is_alarming: bool,
    replicas: Vec<ReplicaLine>,
    /// Whether this server shares its database.
    is_shared: bool,
}

struct ReplicaLine {
    /// Whether it is silent because it was started again.
    is_replaced: bool,
    started: Moment,
    last_report: Moment,
    view: ReplicaView,
}

/// Draws the page.
pub(crate) async fn show(State(app): State<App>, frame: Frame) -> PageResult {
    let now = app.web().clock.now();
    let all = replicas::read(&app).await?;
    let replaced: Vec<bool> = all.iter().map(|view| view.is_replaced(&all)).collect();
    let line = |(view, is_replaced): (ReplicaView, bool)| ReplicaLine {
        is_replaced,
        started: Moment::new(view.started_at, now),
        last_report: Moment::new(view.last_report_at(now), now),
        view,
    };
    let replicas: Vec<ReplicaLine> = all.into_iter().zip(replaced).map(line).collect();
    let expected = replicas.iter().filter(|replica| !replica.is_replaced).count();
    let alive = replicas.iter().filter(|replica| replica.view.is_alive).count();
    let alone = replicas.iter().filter(|it| it.view.is_alive && it.view.mode == replicas::DEGRADED).count();
    let (summary, is_alarming) = (words::replicas(alive, expected, alone), alive < expected || alone > 0);
    draw(&ReplicasPage { frame, summary, is_alarming, replicas, is_shared: app.web().store.is_shared() })
}
