//! Exports any number of events as one file, with one page of them in memory.

use std::io;

use axum::body::Body;
use axum::extract::State;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use store::{EventFilter, EventRow, Page, PageRequest, StoreError};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use utoipa::ToSchema;

use super::{EventView, EventsQuery, csv};
use crate::app::App;
use crate::event_reader::EventReader;
use crate::input::Parameters;
use crate::problem::{Problem, Refusals};

/// The format of an export.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ExportFormat {
    /// A list of events as `GET /api/events` has them.
    #[default]
    Json,
    /// A table for spreadsheets.
    Csv,
}

/// All events that match the filters, newest first, as one file.
///
/// In CSV, text that a spreadsheet would run as a formula begins with a `'`.
#[utoipa::path(get, path = "/api/events/export", tag = "events", operation_id = "export_events", params(EventsQuery),
    responses((status = 200, content((Vec<EventView> = "application/json"), (String = "text/csv"))), Refusals))]
pub(crate) async fn get(
    State(app): State<App>,
    events: EventReader,
    Parameters(query): Parameters<EventsQuery>,
) -> Result<Response, Problem> {
    let format = query.export_format()?;
    app.web().recorder.catch_up().await;
    let mut pages =
        Pages { events, filter: query.into(), next: Some(PageRequest { limit: PageRequest::MAX_LIMIT, cursor: None }) };
    // The first page is read before the answer begins, so that a failure gets an error status.
    let first = pages.read().await?;
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(write(pages, first, format, sender));
    let (kind, name) = match format {
        ExportFormat::Json => ("application/json", "attachment; filename=\"events.json\""),
        ExportFormat::Csv => ("text/csv; charset=utf-8", "attachment; filename=\"events.csv\""),
    };
    let headers = [(CONTENT_TYPE, kind), (CONTENT_DISPOSITION, name)];
    Ok((headers, Body::from_stream(ReceiverStream::new(receiver))).into_response())
}

/// The pages that are still to be read.
struct Pages {
    events: EventReader,
    filter: EventFilter,
    next: Option<PageRequest>,
}

impl Pages {
    /// The next page; an empty one after the last.
    async fn read(&mut self) -> Result<Vec<EventRow>, StoreError> {
        let Some(request) = self.next.take() else { return Ok(Vec::new()) };
        let Page { items, next } = self.events.events(&self.filter, &request).await?;
        self.next = next.map(|cursor| PageRequest { cursor: Some(cursor), ..request });
        Ok(items)
    }
}

type Pieces = mpsc::Sender<io::Result<String>>;

/// Writes page by page, as fast as the client reads. Ends when the client disconnects.
async fn write(mut pages: Pages, first: Vec<EventRow>, format: ExportFormat, pieces: Pieces) {
    let (mut rows, mut is_first) = (first, true);
    loop {
        let is_last = pages.next.is_none();
        if pieces.send(piece(rows, format, is_first, is_last)).await.is_err() || is_last {
            return;
        }
        is_first = false;
        rows = match pages.read().await {
            Ok(rows) => rows,
            // Breaks the connection: an incomplete file must not look complete.
            Err(error) => return drop(pieces.send(Err(io::Error::other(error.to_string()))).await),
        };
    }
}

fn piece(rows: Vec<EventRow>, format: ExportFormat, is_first: bool, is_last: bool) -> io::Result<String> {
    let mut text = String::new();
    if is_first {
        text.push_str(if format == ExportFormat::Csv { csv::HEADER } else { "[" });
    }
    for (number, row) in rows.into_iter().enumerate() {
        match format {
            ExportFormat::Csv => csv::push_row(&mut text, &row),
            ExportFormat::Json => {
                text.push_str(if is_first && number == 0 { "\n" } else { ",\n" });
                text.push_str(&serde_json::to_string(&EventView::from(row)).map_err(io::Error::other)?);
            }
        }
    }
    if is_last && format == ExportFormat::Json {
        text.push_str("\n]\n");
    }
    Ok(text)
}
