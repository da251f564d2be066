//! The content of an alert, as it is stored and as webhooks carry it in `data`.

use serde::{Deserialize, Serialize};

use crate::{
    Action, AgentId, AlertType, BudgetPeriod, Incident, IncidentId, NanoUsd, RuleType, SignalCounts, Timestamp,
};

/// The count of a signal and its part of the score.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SignalFigure {
    /// How often it was seen.
    pub count: u32,
    /// The weight of one occurrence.
    pub weight: f64,
    /// The part of the score.
    pub score: f64,
}

/// The figures of all signals.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the fields are those of SignalCounts")]
pub struct SignalFigures {
    pub similar_prompts: SignalFigure,
    pub similar_responses: SignalFigure,
    pub repeated_tool_calls: SignalFigure,
}

impl From<SignalCounts> for SignalFigures {
    fn from(counts: SignalCounts) -> SignalFigures {
        let figure = |count: u32, weight: f64| SignalFigure { count, weight, score: f64::from(count) * weight };
        SignalFigures {
            similar_prompts: figure(counts.similar_prompts, SignalCounts::PROMPT_WEIGHT),
            similar_responses: figure(counts.similar_responses, SignalCounts::RESPONSE_WEIGHT),
            repeated_tool_calls: figure(counts.repeated_tool_calls, SignalCounts::TOOL_CALL_WEIGHT),
        }
    }
}

/// A kill or an observed loop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoopData {
    /// The agent.
    pub agent_id: AgentId,
    /// The incident.
    pub incident_id: IncidentId,
    /// When the agent was deactivated; `None` if it was only observed.
    pub deactivated_at: Option<Timestamp>,
    /// The score.
    pub score: f64,
    /// The threshold it exceeded.
    pub threshold: f64,
    /// The number of calls that were compared.
    pub window_size: u16,
    /// The parts of the score.
    pub signals: SignalFigures,
    /// The provider of the call that triggered it.
    pub provider: String,
    /// The model of that call.
    pub model: Option<String>,
    /// The action taken.
    pub action: Action,
}

impl LoopData {
    /// The longest name in an alert, in characters: clients choose names.
    const MAX_NAME: usize = 200;

    /// The alert data of `incident`.
    pub fn of(incident: &Incident) -> LoopData {
        let kill = &incident.kill;
        let cut = |name: &str| name.chars().take(Self::MAX_NAME).collect::<String>();
        LoopData {
            agent_id: kill.agent.clone(),
            incident_id: kill.incident,
            deactivated_at: (incident.state != crate::IncidentState::Observed).then_some(kill.at),
            score: kill.score.value,
            threshold: kill.kill_switch.threshold,
            window_size: kill.kill_switch.window_size,
            signals: kill.score.signals.into(),
            provider: cut(&incident.provider),
            model: incident.model.as_deref().map(cut),
            action: kill.kill_switch.action,
        }
    }
}

/// An agent that makes no calls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SilenceData {
    /// The agent.
    pub agent_id: AgentId,
    /// Its last call.
    pub last_seen: Option<Timestamp>,
    /// The rule's minutes.
    pub minutes: u32,
}

/// An agent whose calls fail.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ErrorRateData {
    /// The agent.
    pub agent_id: AgentId,
    /// The percentage that failed.
    pub error_percent: f64,
    /// The number of failed calls.
    pub errors: u64,
    /// The number of all calls.
    pub calls: u64,
    /// The rule's percent.
    pub threshold_percent: f64,
    /// The rule's minutes.
    pub minutes: u32,
}

/// An agent that spent too much.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BudgetData {
    /// The agent.
    pub agent_id: AgentId,
    /// What it has spent, as far as prices are known.
    pub spent_usd: NanoUsd,
    /// The rule's amount, or the agent's budget.
    pub amount_usd: NanoUsd,
    /// The length of the period.
    pub period: BudgetPeriod,
    /// When the period began.
    pub period_start: Timestamp,
    /// The rule's percent, if it is about the agent's budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold_percent: Option<f64>,
}

/// The end of an alert's condition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecoveredData {
    /// The agent.
    pub agent_id: AgentId,
    /// The kind of rule that had fired.
    pub rule_type: RuleType,
    /// Since when the condition had held.
    pub since: Timestamp,
    /// The incident that was closed, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incident_id: Option<IncidentId>,
}

/// One alert of a digest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DigestLine {
    /// The type of the alert.
    #[serde(rename = "type")]
    pub alert_type: String,
    /// When it was raised.
    pub timestamp: Timestamp,
    /// The agent.
    pub agent_id: Option<AgentId>,
    /// The incident, if there is one.
    pub incident_id: Option<IncidentId>,
    /// One sentence about it.
    pub summary: String,
}

/// The content of an alert.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[allow(missing_docs, reason = "the names are those of AlertType")]
pub enum AlertData {
    Loop(LoopData),
    Silence(SilenceData),
    ErrorRate(ErrorRateData),
    Budget(BudgetData),
    Recovered(RecoveredData),
    /// Several alerts: as many as fit, and their number.
    Digest {
        count: u64,
        alerts: Vec<DigestLine>,
    },
    /// A test that a person asked for.
    Test {
        channel: String,
    },
}

impl AlertData {
    /// Parses the stored data of an alert of this type.
    pub fn parse(alert_type: AlertType, json: &str) -> Option<AlertData> {
        #[derive(Deserialize)]
        struct Digest {
            count: u64,
            alerts: Vec<DigestLine>,
        }
        #[derive(Deserialize)]
        struct Test {
            channel: String,
        }
        match alert_type {
            AlertType::Killed | AlertType::Observed => serde_json::from_str(json).ok().map(AlertData::Loop),
            AlertType::Down => serde_json::from_str(json).ok().map(AlertData::Silence),
            AlertType::ErrorRate => serde_json::from_str(json).ok().map(AlertData::ErrorRate),
            AlertType::Recovered => serde_json::from_str(json).ok().map(AlertData::Recovered),
            AlertType::Digest => {
                let Digest { count, alerts } = serde_json::from_str(json).ok()?;
                Some(AlertData::Digest { count, alerts })
            }
            AlertType::Test => {
                let Test { channel } = serde_json::from_str(json).ok()?;
                Some(AlertData::Test { channel })
            }
            AlertType::Budget => serde_json::from_str(json).ok().map(AlertData::Budget),
        }
    }

    /// The agent it is about.
    pub fn agent(&self) -> Option<&AgentId> {
        match self {
            AlertData::Loop(data) => Some(&data.agent_id),
            AlertData::Silence(data) => Some(&data.agent_id),
            AlertData::ErrorRate(data) => Some(&data.agent_id),
            AlertData::Budget(data) => Some(&data.agent_id),
            AlertData::Recovered(data) => Some(&data.agent_id),
            AlertData::Digest { .. } | AlertData::Test { .. } => None,
        }
    }

    /// The incident it is about.
    pub fn incident(&self) -> Option<IncidentId> {
        match self {
            AlertData::Loop(data) => Some(data.incident_id),
            AlertData::Recovered(data) => data.incident_id,
            _ => None,
        }
    }
}
