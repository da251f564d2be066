//! Incidents: feedback and deletion.

use model::IncidentId;
use store::{Change, Feedback};

use crate::error::OrNotFound;
use crate::{Commands, ControlError};

impl Commands {
    /// Records whether an incident was a loop.
    pub async fn set_feedback(&self, incident: IncidentId, feedback: Feedback) -> Result<(), ControlError> {
        self.change_incident(incident, Change::SetFeedback { incident, feedback }).await
    }

    /// Deletes an incident with its evidence. An agent that it stopped stays inactive.
    pub async fn delete_incident(&self, incident: IncidentId) -> Result<(), ControlError> {
        self.change_incident(incident, Change::DeleteIncident { incident }).await
    }

    async fn change_incident(&self, incident: IncidentId, change: Change) -> Result<(), ControlError> {
        // Incidents are not in memory, so no other command has to wait.
        let changed = self.command().change(change).await;
        changed.or_not_found(|| unknown_incident(incident)).map(drop)
    }
}

pub(crate) fn unknown_incident(incident: IncidentId) -> String {
    format!("There is no incident {incident}.")
}
