//! The text of an alert, the same for every channel: a title, a few facts, a link.

use model::{
    AlertData, AlertType, BudgetData, DeliveryId, ErrorRateData, LoopData, RecoveredData, SilenceData, Timestamp,
};
use serde_json::{Value, json};
use store::DeliveryRow;

/// An alert to deliver.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) id: DeliveryId,
    pub(crate) alert_type: AlertType,
    pub(crate) at: Timestamp,
    data: AlertData,
    public_url: String,
}

impl Message {
    /// The message of `delivery`, with links below `public_url`; `None` if its data cannot be read.
    pub(crate) fn of(delivery: &DeliveryRow, public_url: &str) -> Option<Message> {
        Some(Message {
            id: delivery.id,
            alert_type: delivery.alert_type,
            at: delivery.queued_at,
            data: delivery.data.clone()?,
            public_url: public_url.to_owned(),
        })
    }

    /// A test of the mail server, sent to `address`.
    pub(crate) fn test_mail(address: &str, at: Timestamp, public_url: &str) -> Message {
        Message {
            id: DeliveryId::new(),
            alert_type: AlertType::Test,
            at,
            data: AlertData::Test { channel: address.to_owned() },
            public_url: public_url.to_owned(),
        }
    }

    /// The alert in one sentence.
    pub(crate) fn title(&self) -> String {
        self.data.summary()
    }

    /// The page with more details.
    pub(crate) fn link(&self) -> String {
        let path = match (&self.data, self.data.incident(), self.data.agent()) {
            (_, Some(incident), _) => format!("/incidents/{incident}"),
            (_, None, Some(agent)) => format!("/agents/{agent}"),
            (AlertData::Digest { .. }, ..) => "/incidents".to_owned(),
            _ => "/alerts".to_owned(),
        };
        format!("{}{path}", self.public_url)
    }

    /// Further facts.
    pub(crate) fn facts(&self) -> Vec<(&'static str, String)> {
        match &self.data {
            AlertData::Loop(data) => loop_facts(data),
            AlertData::Silence(SilenceData { last_seen, .. }) => {
                vec![("Last call", last_seen.map_or_else(|| "never".to_owned(), |at| at.to_string()))]
            }
            AlertData::ErrorRate(ErrorRateData { threshold_percent, minutes, .. }) => {
                vec![("Rule", format!("{threshold_percent}% over {minutes} min"))]
            }
            AlertData::Budget(BudgetData { period_start, .. }) => vec![("Since", period_start.to_string())],
            AlertData::Recovered(RecoveredData { since, .. }) => vec![("Problem began", since.to_string())],
            AlertData::Digest { .. } | AlertData::Test { .. } => Vec::new(),
        }
    }

    /// The lines of a digest, and the number of the others.
    pub(crate) fn lines(&self) -> (Vec<String>, u64) {
        let AlertData::Digest { count, alerts } = &self.data else { return (Vec::new(), 0) };
        let lines = alerts.iter().map(|line| line.summary.clone()).collect();
        (lines, count.saturating_sub(alerts.len() as u64))
    }

    /// Whether it reports a problem.
    pub(crate) fn is_bad(&self) -> bool {
        !matches!(self.alert_type, AlertType::Recovered | AlertType::Test)
    }

    /// The body of a webhook.
    pub(crate) fn body(&self) -> Value {
        let mut data = serde_json::to_value(&self.data).unwrap_or_default();
        if let Some(fields) = data.as_object_mut() {
            fields.insert("url".to_owned(), self.link().into());
        }
        json!({ "type": self.alert_type.as_str(), "timestamp": self.at, "data": data })
    }
}

fn loop_facts(data: &LoopData) -> Vec<(&'static str, String)> {
    let signals = &data.signals;
    let counts = [
        (signals.similar_prompts, "similar prompts"),
        (signals.similar_responses, "similar responses"),
        (signals.repeated_tool_calls, "repeated tool calls"),
    ];
    let counts: Vec<_> =
        counts.iter().filter(|(it, _)| it.count > 0).map(|(it, name)| format!("{} {name}", it.count)).collect();
    let mut facts = vec![
        ("Agent", data.agent_id.to_string()),
        ("Score", format!("{:.1} (threshold {:.1}, {} calls)", data.score, data.threshold, data.window_size)),
        ("Signals", counts.join(", ")),
        (
            "Calling",
            [Some(data.provider.as_str()), data.model.as_deref()].into_iter().flatten().collect::<Vec<_>>().join(" "),
        ),
    ];
    if let Some(at) = data.deactivated_at {
        facts.push(("Stopped", at.to_string()));
        facts.push(("Switch it on again", format!("agentgazer activate {}", data.agent_id)));
    }
    facts
}

#[cfg(test)]
pub(crate) mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use model::DigestLine;

    /// A kill of an agent whose client named its model `model`.
    pub(crate) fn killed(model: &str) -> Message {
        let data = json!({
            "agent_id": "my-agent", "incident_id": "01a1e113-cde6-7655-bec5-72125b2b0e22",
            "deactivated_at": "2026-11-15T21:18:53.926Z", "score": 13.0, "threshold": 10.0, "window_size": 20,
            "signals": {
                "similar_prompts": {"count": 5, "weight": 1.0, "score": 5.0},
                "similar_responses": {"count": 4, "weight": 2.0, "score": 8.0},
                "repeated_tool_calls": {"count": 0, "weight": 1.5, "score": 0.0},
            },
            "provider": "openai", "model": model, "action": "deactivate",
        });
        message(AlertType::Killed, AlertData::parse(AlertType::Killed, &data.to_string()).unwrap())
    }

    /// A digest of this many kills.
    pub(crate) fn digest(lines: usize, summary: &str) -> Message {
        let line = DigestLine {
            alert_type: "agent.killed".to_owned(),
            timestamp: Timestamp::from_millis(0),
            agent_id: None,
            incident_id: None,
            summary: summary.to_owned(),
        };
        message(AlertType::Digest, AlertData::Digest { count: lines as u64 + 7, alerts: vec![line; lines] })
    }

    fn message(alert_type: AlertType, data: AlertData) -> Message {
        let at = Timestamp::parse("2026-11-15T21:18:53.926Z").unwrap();
        let id = DeliveryId::parse("01a1e113-0000-7000-8000-000000000001").unwrap();
        Message { id, alert_type, at, data, public_url: "http://gazer.test".to_owned() }
    }

    #[test]
    fn kill_webhook_has_the_documented_fields() {
        let body = killed("gpt-4o").body();
        assert_eq!((&body["type"], &body["timestamp"]), (&json!("agent.killed"), &json!("2026-11-15T21:18:53.926Z")));
        let data = body["data"].as_object().unwrap();
        for field in [
            "agent_id",
            "incident_id",
            "deactivated_at",
            "score",
            "threshold",
            "window_size",
            "signals",
            "provider",
            "model",
            "action",
            "url",
        ] {
            assert!(data.contains_key(field), "{field}");
        }
        assert_eq!(data["url"], "http://gazer.test/incidents/01a1e113-cde6-7655-bec5-72125b2b0e22");
        assert_eq!(data["signals"]["similar_responses"], json!({"count": 4, "weight": 2.0, "score": 8.0}));
    }

    #[test]
    fn message_has_title_facts_and_link() {
        let message = killed("gpt-4o");
        assert_eq!(message.title(), "my-agent was stopped: loop score 13.0, threshold 10.0");
        let facts: Vec<_> = message.facts().into_iter().map(|(name, value)| format!("{name}: {value}")).collect();
        assert!(facts.contains(&"Signals: 5 similar prompts, 4 similar responses".to_owned()), "{facts:?}");
        assert!(facts.contains(&"Calling: openai gpt-4o".to_owned()), "{facts:?}");
        assert!(facts.contains(&"Switch it on again: agentgazer activate my-agent".to_owned()), "{facts:?}");
    }

    #[test]
    fn webhook_body_stays_below_the_limit_of_receivers() {
        assert!(digest(50, &"x".repeat(200)).body().to_string().len() < 20 * 1024);
    }
}
