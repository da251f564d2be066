//! The remedies for a false alarm: the narrowest exemptions, what each would have let through, and
//! the exemptions in force.

use axum::extract::State;
use control::LONGEST_EXEMPTION_DAYS;
use model::{ExemptKind, Timestamp};
use serde::Deserialize;
use store::Feedback;

use crate::api::exemptions::{self, NewExemption};
use crate::api::incidents::{self, IncidentView};
use crate::api::offers::{self, OfferView};
use crate::app::App;
use crate::gate::ByCaller;
use crate::input::{Fields, IncidentPath};
use crate::pages::exemptions::{ExemptionLine, shown};
use crate::pages::words::incident as words;
use crate::pages::words::problem::takes;
use crate::pages::{PageResult, see_other};
use crate::problem::Problem;

/// The suggested length of an exemption, in days.
const SUGGESTED_DAYS: i64 = 30;
const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// The remedies of the page.
pub(super) struct FalseAlarm {
    pub(super) offers: Vec<Offer>,
    /// The exemptions that were made because of this incident.
    pub(super) exemptions: Vec<ExemptionLine>,
    /// The suggested last day, as a date field takes it.
    pub(super) suggested: String,
    pub(super) first: String,
    pub(super) last: String,
}

/// A possible exemption.
pub(super) struct Offer {
    pub(super) key: &'static str,
    pub(super) what: &'static str,
    pub(super) text: String,
    pub(super) effect: String,
    pub(super) covers: String,
}

/// The remedies for the incident; `None` unless a person marked it as a false alarm.
pub(super) async fn read(app: &App, incident: &IncidentView, now: Timestamp) -> Result<Option<FalseAlarm>, Problem> {
    if incident.feedback != Some(Feedback::FalseAlarm) {
        return Ok(None);
    }
    let of_agent = exemptions::read(app, &incident.agent_id).await?;
    let of_incident: Vec<_> = of_agent.iter().filter(|exemption| exemption.incident_id == Some(incident.id)).collect();
    // A prompt or a tool call that is already exempt is not offered again.
    let is_new = |offer: &OfferView| of_incident.iter().all(|exemption| exemption.what != offer.what);
    let offers = offers::read(app, incident.id).await?.into_iter().filter(is_new);
    Ok(Some(FalseAlarm {
        offers: offers.map(|offer| Offer::new(offer, incident.threshold)).collect(),
        exemptions: of_incident.into_iter().map(ExemptionLine::new).collect(),
        suggested: day(now, SUGGESTED_DAYS),
        first: day(now, 0),
        last: day(now, LONGEST_EXEMPTION_DAYS - 1),
    }))
}

impl Offer {
    fn new(offer: OfferView, threshold: f64) -> Offer {
        let OfferView { what, text, score, would_have_passed, covered_calls, of_calls } = offer;
        Offer {
            key: what.as_str(),
            what: words::exempt_kind(what),
            text: shown(what, &text),
            effect: words::effect(score, threshold, would_have_passed),
            covers: words::covers(covered_calls, of_calls),
        }
    }
}

/// The day `days` days after `now`, in UTC.
fn day(now: Timestamp, days: i64) -> String {
    let then = Timestamp::from_millis(now.as_millis() + days * DAY_MS).to_string();
    then.get(..10).unwrap_or_default().to_owned()
}

/// The exemption to create, and its last day.
#[derive(Deserialize)]
pub(crate) struct ExemptForm {
    what: ExemptKind,
    until: String,
}

/// Creates the exemption, which holds to the end of the day in UTC.
pub(crate) async fn exempt(
    State(app): State<App>,
    ByCaller(commands): ByCaller,
    IncidentPath(id): IncidentPath,
    Fields(form): Fields<ExemptForm>,
) -> PageResult {
    let incident = incidents::read(&app, id).await?;
    let until = end_of(&form.until).ok_or_else(|| Problem::field("until", takes::DAY))?;
    let new = NewExemption { incident_id: id, what: form.what, until };
    exemptions::exempt(&commands, &incident.agent_id, new).await?;
    Ok(see_other(&format!("/incidents/{id}?done=exempted")))
}

/// The end of a day in UTC.
fn end_of(day: &str) -> Option<Timestamp> {
    let begin = Timestamp::parse(&format!("{}T00:00:00Z", day.trim()))?;
    Some(Timestamp::from_millis(begin.as_millis() + DAY_MS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_whole() {
        assert_eq!(end_of("2026-12-24").map(|end| end.to_string()).as_deref(), Some("2026-12-25T00:00:00.000Z"));
        for odd in ["", "tomorrow", "2026-02-30", "2026-12-24T10:00"] {
            assert_eq!(end_of(odd), None, "{odd}");
        }
        let now = Timestamp::parse("2026-12-24T23:00:00Z").unwrap_or_default();
        assert_eq!((day(now, 0), day(now, 30)), ("2026-12-24".to_owned(), "2027-01-23".to_owned()));
    }
}
