//! Sums by agent over all its models, for every span, so that a list of all agents reads few rows
//! of each. `longer_sums` makes them once a span is over; later calls are added here.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::Totals;
use super::spans::Progress;
use super::spans::Span;
use super::totals::{add_counts, count_columns, push_counts};
use crate::database::{BulkInsert, Connection, text};

static ADD: LazyLock<BulkInsert> = LazyLock::new(|| {
    let columns = format!("hours, start, agent_id, {}", count_columns());
    BulkInsert::new(("agent_sums", &columns), 16, &add_counts("hours, start, agent_id", []))
});

/// Adds sums of hours, each with its start and agent, to the spans that are already made.
pub(super) async fn add<'a>(
    transaction: &mut Connection<'_>,
    sums: impl Iterator<Item = (i64, &'a str, &'a Totals)>,
    progress: &Progress,
) -> Result<(), sqlx::Error> {
    let mut all: HashMap<(i64, i64, &str), Totals> = HashMap::new();
    for (hour, agent, totals) in sums {
        for span in Span::ALL {
            let start = span.start(hour);
            if progress.has(span, start, agent) {
                all.entry((span.hours(), start, agent)).or_default().add_counts(totals);
            }
        }
    }
    let mut all: Vec<_> = all.into_iter().collect();
    // In the order of the table, so that each page is touched once.
    all.sort_unstable_by_key(|(key, _)| *key);
    ADD.execute(transaction, &all, |arguments, ((hours, start, agent), totals)| {
        arguments.add(*hours)?;
        arguments.add(*start)?;
        arguments.add(text(agent))?;
        push_counts(arguments, totals)
    })
    .await
}
