//! `alerts add-rule` and `alerts delete-rule`: when people are told of an agent, a group or all
//! agents.

use http::Method;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::Channel;
use super::channels::find;
use crate::cli::{AddRuleArgs, ServerArgs};
use crate::client;
use crate::client::alerts::channels;
use crate::commands::client;
use crate::exit::Failure;
use crate::print;
use crate::runtime::on_one_thread;

pub(super) const HEADER: [&str; 5] = ["RULE", "AGENT", "STATE", "CHANNELS", "ID"];

/// The fields of a rule that are shown.
#[derive(Deserialize)]
pub(super) struct Rule {
    id: String,
    agent_id: String,
    rule_type: String,
    channels: Vec<String>,
    enabled: bool,
    minutes: Option<u32>,
    percent: Option<f64>,
    amount_usd: Option<f64>,
    period: Option<String>,
}

impl Rule {
    /// The rule in a table, with the names of its channels.
    pub(super) fn row(&self, channels: &[Channel]) -> Vec<String> {
        let span = self.minutes.map(|minutes| format!(" {minutes} min")).unwrap_or_default();
        let percent = self.percent.map(|percent| format!(" {percent}%")).unwrap_or_default();
        let amount = self.amount_usd.zip(self.period.as_ref()).map(|(amount, period)| format!(" ${amount} a {period}"));
        let known = |id: &String| channels.iter().find(|it| it.id == *id);
        let name = |id: &String| known(id).map_or_else(|| id.clone(), |it| it.name.clone());
        let names: Vec<_> = self.channels.iter().map(name).collect();
        vec![
            format!("{}{percent}{span}{}", self.rule_type, amount.unwrap_or_default()),
            self.agent_id.clone(),
            if self.enabled { "on".to_owned() } else { "off".to_owned() },
            if names.is_empty() { "all".to_owned() } else { names.join(", ") },
            self.id.clone(),
        ]
    }
}

/// `alerts add-rule TYPE …`.
pub(super) fn add(args: &AddRuleArgs) -> Result<(), Failure> {
    let (answer, channels) = on_one_thread(async {
        let client = client(&args.server)?;
        let mut named = Vec::with_capacity(args.channel.len());
        for wanted in &args.channel {
            named.push(Value::from(find(&client, wanted).await?.id));
        }
        let mut body = fields(args);
        body.insert("channels".to_owned(), named.into());
        let answer = client.change(Method::POST, "/api/alerts", &body.into()).await?;
        Ok((answer, channels(&client).await?))
    })?;
    if args.server.json {
        return print::json(&answer);
    }
    let rule: Rule = client::read(&answer)?;
    print::table(&HEADER, vec![rule.row(&channels)], "")
}

/// `alerts delete-rule RULE`.
pub(super) fn delete(rule: &str, args: &ServerArgs) -> Result<(), Failure> {
    let path = format!("/api/alerts/{}", client::percent_encoded(rule));
    on_one_thread(async { client(args)?.delete(&path).await })?;
    if args.json { Ok(()) } else { print::line(&crate::text::printable(&format!("The rule {rule} is deleted."))) }
}

fn fields(args: &AddRuleArgs) -> Map<String, Value> {
    let fields = [
        ("rule_type", Some(args.rule_type.clone().into())),
        ("agent_id", Some(args.agent.clone().into())),
        ("minutes", args.minutes.map(Value::from)),
        ("percent", args.percent.map(Value::from)),
        ("amount_usd", args.amount.map(Value::from)),
        ("period", args.period.clone().map(Value::from)),
    ];
    fields.into_iter().filter_map(|(field, value)| Some((field.to_owned(), value?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_rows() {
        let channel: Channel = serde_json::from_value(serde_json::json!({
            "id": "01", "kind": "webhook", "name": "ops", "enabled": true, "disabled_reason": null,
        }))
        .unwrap();
        let rule = Rule {
            id: "07".to_owned(),
            agent_id: "@team-a".to_owned(),
            rule_type: "error_rate".to_owned(),
            channels: vec!["01".to_owned(), "02".to_owned()],
            enabled: true,
            minutes: Some(5),
            percent: Some(20.0),
            amount_usd: None,
            period: None,
        };
        assert_eq!(rule.row(&[channel]), ["error_rate 20% 5 min", "@team-a", "on", "ops, 02", "07"]);
    }
}
