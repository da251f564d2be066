//! `alerts`: lists channels and rules, and sends tests. Changes of channels are in `channels.rs`,
//! those of rules in `rules.rs`.

mod channels;
mod rules;

use http::Method;
use serde_json::json;

use super::client;
use crate::cli::{AlertsArgs, AlertsCommand, ServerArgs};
use crate::client;
use crate::client::alerts::{Attempt, Channel, Delivery, channels};
use crate::exit::{Exit, Failure};
use crate::print;
use crate::runtime::on_one_thread;
use rules::Rule;

pub(super) const CHANNEL_HEADER: [&str; 5] = ["CHANNEL", "KIND", "STATE", "TO", "ID"];

/// `alerts [list]`, `alerts test CHANNEL`, and the changes of channels and rules.
pub fn alerts(args: &AlertsArgs) -> Result<(), Failure> {
    match &args.command {
        None => list(&args.server),
        Some(AlertsCommand::List(server)) => list(server),
        Some(AlertsCommand::Add(args)) => channels::add(args),
        Some(AlertsCommand::Change(args)) => channels::change(args),
        Some(AlertsCommand::Delete { channel, server }) => channels::delete(channel, server),
        Some(AlertsCommand::AddRule(args)) => rules::add(args),
        Some(AlertsCommand::DeleteRule { rule, server }) => rules::delete(rule, server),
        Some(AlertsCommand::Test { channel, server }) => test(channel, server),
    }
}

fn list(args: &ServerArgs) -> Result<(), Failure> {
    let (channels, rules) = on_one_thread(async {
        let client = client(args)?;
        Ok((client.items("/api/channels").await?, client.items("/api/alerts").await?))
    })?;
    if args.json {
        let (channels, rules) = (print::json_array(&channels), print::json_array(&rules));
        return print::json(&format!(r#"{{"channels":{channels},"rules":{rules}}}"#));
    }
    let channels = channels.iter().map(|item| client::read(item.get())).collect::<Result<Vec<Channel>, _>>()?;
    let rules = rules.iter().map(|item| client::read(item.get())).collect::<Result<Vec<Rule>, _>>()?;
    let rows = rules.iter().map(|rule| rule.row(&channels)).collect();
    let no_one = "No channels: no one is notified of kills. Add one: agentgazer alerts add webhook NAME --address URL";
    print::table(&CHANNEL_HEADER, channels.iter().map(channel_row).collect(), no_one)?;
    print::line("")?;
    print::table(&rules::HEADER, rows, "No rules: every kill goes to every channel.")
}

pub(super) fn channel_row(channel: &Channel) -> Vec<String> {
    let to = channel.to.as_ref().map(|to| to.join(", ")).or_else(|| channel.chat_id.clone());
    let (state, why) = match &channel.failing {
        Some(answer) => ("fails", Some(answer)),
        None if channel.enabled => ("on", None),
        None => ("off", channel.disabled_reason.as_ref()),
    };
    let state = why.map_or_else(|| state.to_owned(), |why| format!("{state}: {why}"));
    let to = to.or_else(|| channel.url.clone()).unwrap_or_else(|| "cannot be decrypted".to_owned());
    vec![channel.name.clone(), channel.kind.clone(), state, to, channel.id.clone()]
}

fn test(wanted: &str, args: &ServerArgs) -> Result<(), Failure> {
    let answer = on_one_thread(async {
        let client = client(args)?;
        let channel = channels::find(&client, wanted).await?;
        client.change(Method::POST, &format!("/api/channels/{}/test", channel.id), &json!({})).await
    })?;
    if args.json {
        print::json(&answer)?;
    }
    let delivery: Delivery = client::read(&answer)?;
    let outcome = delivery.attempts.last().map(Attempt::words).or(delivery.reason);
    let outcome = outcome.unwrap_or_else(|| "it is still under way".to_owned());
    if delivery.state != "delivered" {
        return Err(Failure::new(Exit::Failed, format!("{wanted} was not reached: {outcome}")));
    }
    if args.json { Ok(()) } else { print::line(&crate::text::printable(&format!("{wanted} took the test: {outcome}"))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_are_rows() {
        let mut channel = Channel {
            id: "01".to_owned(),
            kind: "webhook".to_owned(),
            name: "ops".to_owned(),
            enabled: false,
            disabled_reason: Some("gone".to_owned()),
            failing: None,
            url: Some("https://example.com".to_owned()),
            to: None,
            chat_id: None,
        };
        assert_eq!(channel_row(&channel), ["ops", "webhook", "off: gone", "https://example.com", "01"]);
        (channel.enabled, channel.failing) = (true, Some("502 no".to_owned()));
        assert_eq!(channel_row(&channel)[2], "fails: 502 no");
    }
}
