//! Finds the replicas that need a person: those that went silent without leaving, and those that
//! decide alone.

use model::Timestamp;

use crate::api::replicas;
use crate::api::status;
use crate::app::App;
use crate::pages::number::Moment;
use crate::problem::Problem;

/// A replica that needs a person.
pub(super) struct ReplicaTrouble {
    pub(super) address: String,
    /// The time of its last report, if it is silent; otherwise it decides alone.
    pub(super) silent_since: Option<Moment>,
}

/// The replicas that need a person, oldest first.
pub(super) async fn of_all(app: &App, now: Timestamp) -> Result<Vec<ReplicaTrouble>, Problem> {
    let all = replicas::read(app).await?;
    // This server knows its own mode at once; the database learns of it with the next heartbeat.
    let is_alone = status::read(app).mode == replicas::DEGRADED;
    let in_trouble = all.iter().filter_map(|replica| {
        let silent_since = match replica.is_alive {
            true if replica.is_this && is_alone || !replica.is_this && replica.mode == replicas::DEGRADED => None,
            true => return None,
            false if replica.is_replaced(&all) => return None,
            false => Some(Moment::new(replica.last_report_at(now), now)),
        };
        Some(ReplicaTrouble { address: replica.address.clone(), silent_since })
    });
    Ok(in_trouble.collect())
}
