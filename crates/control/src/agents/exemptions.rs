//! Exemptions: a prompt or tool calls of a false alarm that no longer count for one agent, until a
//! time.

use model::{AgentId, Exempt, ExemptKind, Exemption, ExemptionId, Fingerprint, IncidentId, Timestamp};
use store::{Change, ExemptionRow, IncidentRow};

use crate::error::OrNotFound;
use crate::incidents::unknown_incident;
use crate::{Command, Commands, Control, ControlError, State};

/// The longest time that an exemption may hold, in days.
pub const LONGEST_EXEMPTION_DAYS: i64 = 366;
const DAY_MS: i64 = 24 * 60 * 60 * 1000;
/// How many of the agent's newest calls an offer is compared with.
const COMPARED_CALLS: u32 = 2_000;
/// The number of characters of a text that are kept.
const TEXT_LENGTH: u32 = 200;
/// Tool calls first: they cover less than all work on a prompt.
const KINDS: [ExemptKind; 2] = [ExemptKind::ToolCall, ExemptKind::Prompt];
const FOR_EVER: Timestamp = Timestamp::from_millis(i64::MAX);

/// An exemption to create from the stopped call of an incident.
#[derive(Clone, Copy, Debug)]
pub struct NewExemption {
    /// An incident of the agent.
    pub incident: IncidentId,
    /// What is exempt: the call's prompt or its tool calls.
    pub what: ExemptKind,
    /// When it ends.
    pub until: Timestamp,
}

/// A possible exemption, and what it would have let through.
#[derive(Clone, Debug)]
pub struct ExemptionOffer {
    /// What would be exempt.
    pub what: ExemptKind,
    /// Its beginning.
    pub text: String,
    /// The score that the stopped call would have had.
    pub score: f64,
    /// Whether the stopped call would have passed.
    pub would_have_passed: bool,
    /// How many of the agent's newest calls it covers.
    pub covered_calls: usize,
    /// The number of calls it was compared with.
    pub of_calls: usize,
}

/// A part of a stopped call that can be exempt.
struct Candidate {
    exempt: Exempt,
    text: String,
}

impl Commands {
    /// Creates an exemption. It takes effect from the next call on.
    pub async fn exempt(&self, agent: AgentId, new: NewExemption) -> Result<ExemptionRow, ControlError> {
        self.check_agent(&agent)?;
        let row = self.state().new_exemption(agent, new).await?;
        let made = row.clone();
        self.exclusive(move |command| async move { command.add_exemption(row).await }).await?;
        Ok(made)
    }

    /// Revokes an exemption: what it covered counts again from the next call on.
    pub async fn revoke_exemption(&self, agent: AgentId, id: ExemptionId) -> Result<(), ControlError> {
        self.check_agent(&agent)?;
        self.exclusive(move |command| async move { command.revoke_exemption(&agent, id).await }).await
    }
}

impl Control {
    /// The current exemptions of an agent.
    pub async fn exemptions(&self, agent: &AgentId) -> Result<Vec<ExemptionRow>, ControlError> {
        Ok(self.0.store.exemptions(agent, self.0.clock.now()).await?)
    }

    /// The possible exemptions after a false alarm, narrowest first. Empty if the window of the
    /// incident was not kept.
    pub async fn exemption_offers(&self, incident: IncidentId) -> Result<Vec<ExemptionOffer>, ControlError> {
        let incident = self.0.incident(incident).await?;
        let window = self.0.store.incident_window(incident.id).await?;
        let recorded = self.0.store.newest_fingerprints(&incident.agent, COMPARED_CALLS).await?;
        let mut offers = Vec::new();
        for kind in KINDS {
            if let Some(candidate) = self.0.candidate(&incident, &window, kind).await? {
                offers.push(offer(&incident, &window, &recorded, candidate));
            }
        }
        Ok(offers)
    }
}

impl State {
    async fn incident(&self, id: IncidentId) -> Result<IncidentRow, ControlError> {
        self.store.incident(id).await?.ok_or_else(|| ControlError::NotFound(unknown_incident(id)))
    }

    /// The exemption as it will be stored.
    async fn new_exemption(&self, agent: AgentId, new: NewExemption) -> Result<ExemptionRow, ControlError> {
        let now = self.clock.now();
        let latest = now.as_millis().saturating_add(LONGEST_EXEMPTION_DAYS * DAY_MS);
        if new.until <= now || new.until.as_millis() > latest {
            let message = format!("must be in the future, at most {LONGEST_EXEMPTION_DAYS} days from now");
            return Err(ControlError::field("until", message));
        }
        let incident = self.incident(new.incident).await?;
        if incident.agent != agent {
            return Err(ControlError::field("incident_id", format!("must be an incident of {agent}")));
        }
        let window = self.store.incident_window(incident.id).await?;
        let Some(Candidate { exempt, text }) = self.candidate(&incident, &window, new.what).await? else {
            let message = "must be something that the stopped call has, see GET …/exemptions of it";
            return Err(ControlError::field("what", message));
        };
        Ok(ExemptionRow {
            exemption: Exemption { id: ExemptionId::new(), exempt, until: new.until },
            agent,
            text,
            incident: Some(incident.id),
            created_at: now,
        })
    }
}

impl Command {
    async fn add_exemption(&self, row: ExemptionRow) -> Result<(), ControlError> {
        let agent = row.agent.clone();
        self.store_agent(&agent).await?;
        let added = self.change(Change::AddExemption { row }).await;
        added.or_not_found(|| format!("There is no agent {agent}."))?;
        self.use_stored_exemptions(&agent).await
    }

    async fn revoke_exemption(&self, agent: &AgentId, id: ExemptionId) -> Result<(), ControlError> {
        let removed = self.change(Change::RemoveExemption { agent: agent.clone(), id }).await;
        removed.or_not_found(|| format!("{agent} has no exemption {id}."))?;
        self.use_stored_exemptions(agent).await
    }

    async fn use_stored_exemptions(&self, agent: &AgentId) -> Result<(), ControlError> {
        let rows = self.store.exemptions(agent, self.clock.now()).await?;
        self.guard.exempt(agent, rows.into_iter().map(|row| row.exemption).collect());
        Ok(())
    }
}

impl State {
    /// The part of this kind in the stopped call, the last of `window`.
    async fn candidate(
        &self,
        incident: &IncidentRow,
        window: &[Fingerprint],
        kind: ExemptKind,
    ) -> Result<Option<Candidate>, ControlError> {
        let counting = incident.kill_switch.counting;
        let exempt = window
            .last()
            .and_then(|stopped| Exempt::of(stopped, kind).filter(|exempt| exempt.covers(stopped, counting)));
        let Some(exempt) = exempt else { return Ok(None) };
        let evidence = self.store.evidence_heads(incident.id, TEXT_LENGTH).await?.pop();
        let text = evidence.and_then(|stopped| match kind {
            ExemptKind::Prompt => stopped.prompt,
            ExemptKind::ToolCall => stopped.tool_calls,
        });
        Ok(Some(Candidate { exempt, text: text.unwrap_or_default() }))
    }
}

fn offer(
    incident: &IncidentRow,
    window: &[Fingerprint],
    recorded: &[Fingerprint],
    Candidate { exempt, text }: Candidate,
) -> ExemptionOffer {
    let settings = incident.kill_switch;
    let exemption = Exemption { id: ExemptionId::new(), exempt, until: FOR_EVER };
    let score = guard::rescore(window, settings.counting, &[exemption]).score();
    ExemptionOffer {
        what: exempt.kind(),
        text,
        score,
        would_have_passed: score <= settings.threshold,
        covered_calls: recorded.iter().filter(|call| exempt.covers(call, settings.counting)).count(),
        of_calls: recorded.len(),
    }
}
