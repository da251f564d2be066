//! The forms of channels and rules: filled from what is stored, and read as the API takes them.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::api::alerts::RuleView;
use crate::api::channels::ChannelView;

/// The choice that leaves the channels of a rule unchanged: the form can only name one or all.
const KEEP: &str = "keep";

/// The fields of a channel's form. A kind uses only some of them; the others are empty.
#[derive(Default, Deserialize)]
pub(crate) struct ChannelForm {
    pub(super) kind: String,
    pub(super) name: String,
    #[serde(default)]
    pub(super) url: String,
    #[serde(default)]
    pub(super) to: String,
    #[serde(default)]
    bot_token: String,
    #[serde(default)]
    pub(super) chat_id: String,
}

/// The fields of a rule's form.
#[derive(Default, Deserialize)]
pub(crate) struct RuleForm {
    pub(super) rule_type: String,
    pub(super) agent_id: String,
    #[serde(default)]
    pub(super) channel: String,
    #[serde(default)]
    pub(super) minutes: String,
    #[serde(default)]
    pub(super) percent: String,
    #[serde(default)]
    pub(super) amount_usd: String,
    #[serde(default)]
    pub(super) period: String,
    #[serde(flatten)]
    pub(super) notify: NotifyForm,
}

/// How often a rule notifies. An empty field means the default.
#[derive(Default, Deserialize)]
pub(crate) struct NotifyForm {
    #[serde(default)]
    pub(super) cooldown_minutes: String,
    #[serde(default)]
    pub(super) repeat_minutes: String,
    /// A checkbox is sent only if it is on.
    #[serde(default)]
    pub(super) notify_recovery: Option<String>,
}

impl ChannelForm {
    /// The form filled from a channel.
    pub(super) fn of(channel: &ChannelView) -> ChannelForm {
        ChannelForm {
            kind: channel.kind.as_str().to_owned(),
            name: channel.name.clone(),
            url: channel.url.clone().unwrap_or_default(),
            to: channel.to.as_deref().unwrap_or_default().join(", "),
            bot_token: String::new(),
            chat_id: channel.chat_id.clone().unwrap_or_default(),
        }
    }

    /// The filled fields, as the API takes them.
    pub(super) fn body(&self) -> Map<String, Value> {
        let addresses: Vec<_> = self.to.split(',').map(str::trim).filter(|address| !address.is_empty()).collect();
        let mut body = filled([
            ("kind", &self.kind),
            ("name", &self.name),
            ("url", &self.url),
            ("bot_token", &self.bot_token),
            ("chat_id", &self.chat_id),
        ]);
        if !addresses.is_empty() {
            body.insert("to".to_owned(), json!(addresses));
        }
        body
    }
}

impl RuleForm {
    /// The form filled from a rule.
    pub(super) fn of(rule: &RuleView) -> RuleForm {
        let text = |number: Option<f64>| number.map(|number| number.to_string()).unwrap_or_default();
        let channel = match rule.channels.as_slice() {
            [] => String::new(),
            [only] => only.to_string(),
            _ => KEEP.to_owned(),
        };
        RuleForm {
            rule_type: rule.rule_type.as_str().to_owned(),
            agent_id: if rule.agent_id == "*" { String::new() } else { rule.agent_id.clone() },
            channel,
            minutes: rule.minutes.map(|minutes| minutes.to_string()).unwrap_or_default(),
            percent: text(rule.percent),
            amount_usd: text(rule.amount_usd.map(|amount| amount.usd())),
            period: rule.period.map(|period| period.as_str().to_owned()).unwrap_or_default(),
            notify: NotifyForm {
                cooldown_minutes: rule.cooldown_minutes.to_string(),
                repeat_minutes: rule.repeat_minutes.map(|minutes| minutes.to_string()).unwrap_or_default(),
                notify_recovery: rule.notify_recovery.then(String::new),
            },
        }
    }

    /// The filled fields, as the API takes them.
    pub(super) fn body(&self) -> Map<String, Value> {
        let agent = if self.agent_id.trim().is_empty() { "*" } else { self.agent_id.trim() };
        let mut body =
            filled([("rule_type", self.rule_type.as_str()), ("agent_id", agent), ("period", self.period.as_str())]);
        match self.channel.as_str() {
            KEEP => {}
            "" => drop(body.insert("channels".to_owned(), json!([]))),
            channel => drop(body.insert("channels".to_owned(), json!([channel]))),
        }
        let own = [("minutes", &self.minutes), ("percent", &self.percent), ("amount_usd", &self.amount_usd)];
        body.extend(own.into_iter().filter_map(|(field, text)| number(field, text)));
        body.extend(self.notify.fields());
        body
    }
}

impl NotifyForm {
    fn fields(&self) -> Map<String, Value> {
        let numbers = [("cooldown_minutes", &self.cooldown_minutes), ("repeat_minutes", &self.repeat_minutes)];
        let mut fields: Map<_, _> = numbers.into_iter().filter_map(|(field, text)| number(field, text)).collect();
        fields.insert("notify_recovery".to_owned(), json!(self.notify_recovery.is_some()));
        fields
    }
}

/// A filled field. Text that is not a number is passed on as it is, so that the error names the
/// field.
fn number(field: &str, text: &str) -> Option<(String, Value)> {
    let text = text.trim();
    let value = serde_json::from_str(text).unwrap_or_else(|_| json!(text));
    (!text.is_empty()).then(|| (field.to_owned(), value))
}

/// The filled fields.
fn filled<const N: usize>(fields: [(&str, &str); N]) -> Map<String, Value> {
    let filled = fields.into_iter().map(|(field, text)| (field, text.trim())).filter(|(_, text)| !text.is_empty());
    filled.map(|(field, text)| (field.to_owned(), json!(text))).collect()
}
