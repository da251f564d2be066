//! The page of drills: it runs one and shows whether a kill happened and who was notified.

use askama::Template;
use axum::extract::State;
use secrecy::SecretString;

use super::frame::Frame;
use super::words::drill as words;
use super::{PageResult, assets, draw};
use crate::app::App;
use crate::drill::{DrillLine, DrillReport};
use crate::problem::Problem;

#[derive(Template)]
#[template(path = "drill.html")]
struct DrillPage {
    frame: Frame,
    summary: String,
    /// Whether the drill has failed.
    has_failed: bool,
    report: Option<DrillReport>,
}

/// Draws the page before a drill.
pub(crate) async fn show(frame: Frame) -> PageResult {
    draw(&DrillPage { frame, summary: words::BEFORE.to_owned(), has_failed: false, report: None })
}

/// Runs a drill and draws its result.
pub(crate) async fn run(State(app): State<App>, frame: Frame) -> PageResult {
    let token = app.web().token.with(|token| SecretString::from(token));
    let drills = app.web().drills.clone();
    // The drill runs in a task of its own: if the browser disconnects, it must still remove its
    // agent.
    let ran = tokio::spawn(async move { drills.run(token).await }).await.map_err(Problem::internal)?;
    let Some(ran) = ran else { return Err(Problem::unavailable(words::NONE)) };
    let (summary, has_failed) = words::summary(&ran);
    draw(&DrillPage { frame, summary, has_failed, report: ran.ok() })
}

impl DrillLine {
    fn after(&self) -> String {
        self.after_ms.map(super::words::units::duration).unwrap_or_default()
    }
}
