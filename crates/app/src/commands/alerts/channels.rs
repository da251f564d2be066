//! `alerts add`, `alerts change` and `alerts delete`: the channels that alerts go to.

use http::Method;
use serde_json::{Map, Value};

use super::{Channel, channel_row, channels};
use crate::cli::{AddChannelArgs, ChangeChannelArgs, ChannelTarget, OnOff, ServerArgs};
use crate::client::{self, Client};
use crate::commands::client;
use crate::exit::{Exit, Failure};
use crate::print;
use crate::runtime::on_one_thread;

/// `alerts add KIND NAME …`.
pub(super) fn add(args: &AddChannelArgs) -> Result<(), Failure> {
    let mut body = target(&args.target);
    body.insert("kind".to_owned(), args.kind.clone().into());
    body.insert("name".to_owned(), args.name.clone().into());
    let answer =
        on_one_thread(async { client(&args.server)?.change(Method::POST, "/api/channels", &body.into()).await })?;
    show(&answer, &args.server)?;
    // The secret is shown only once; `--json` already contains it.
    let created: Value = client::read(&answer)?;
    match created.get("secret").and_then(Value::as_str) {
        Some(secret) if !args.server.json => {
            print::line(&format!("Its secret, which is not shown again: {}", crate::text::printable(secret)))
        }
        _ => Ok(()),
    }
}

/// `alerts change CHANNEL …`.
pub(super) fn change(args: &ChangeChannelArgs) -> Result<(), Failure> {
    let mut body = target(&args.target);
    if let Some(name) = &args.name {
        body.insert("name".to_owned(), name.clone().into());
    }
    if let Some(state) = args.state {
        body.insert("enabled".to_owned(), (state == OnOff::On).into());
    }
    if body.is_empty() {
        return Err(Failure::new(Exit::Usage, "nothing to change: say on, off, --name, or where the channel leads"));
    }
    let answer = on_one_thread(async {
        let client = client(&args.server)?;
        let channel = find(&client, &args.channel).await?;
        client.change(Method::PATCH, &format!("/api/channels/{}", channel.id), &body.into()).await
    })?;
    show(&answer, &args.server)
}

/// `alerts delete CHANNEL`.
pub(super) fn delete(wanted: &str, args: &ServerArgs) -> Result<(), Failure> {
    on_one_thread(async {
        let client = client(args)?;
        let channel = find(&client, wanted).await?;
        client.delete(&format!("/api/channels/{}", channel.id)).await
    })?;
    if args.json { Ok(()) } else { print::line(&crate::text::printable(&format!("{wanted} is deleted."))) }
}

/// The channel with the name or id `wanted`.
pub(super) async fn find(client: &Client, wanted: &str) -> Result<Channel, Failure> {
    let mut channels = channels(client).await?;
    if let Some(found) = channels.iter().position(|channel| channel.name == wanted || channel.id == wanted) {
        return Ok(channels.swap_remove(found));
    }
    let names: Vec<_> = channels.iter().map(|channel| channel.name.as_str()).collect();
    let known = if names.is_empty() { "there is none".to_owned() } else { names.join(", ") };
    Err(Failure::new(Exit::NotFound, format!("no channel is called {wanted:?}; known: {known}")))
}

/// The fields of a channel's target. The server checks which ones its kind takes.
fn target(target: &ChannelTarget) -> Map<String, Value> {
    let fields = [
        ("url", target.address.clone().map(Value::from)),
        ("to", (!target.to.is_empty()).then(|| Value::from(target.to.clone()))),
        ("bot_token", target.bot_token.clone().map(Value::from)),
        ("chat_id", target.chat_id.clone().map(Value::from)),
    ];
    fields.into_iter().filter_map(|(field, value)| Some((field.to_owned(), value?))).collect()
}

fn show(answer: &str, args: &ServerArgs) -> Result<(), Failure> {
    if args.json {
        return print::json(answer);
    }
    let channel: Channel = client::read(answer)?;
    print::table(&super::CHANNEL_HEADER, vec![channel_row(&channel)], "")
}
