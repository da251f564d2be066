//! `labels`: shows or sets the labels of an agent, by which groups may name it.

use http::Method;
use serde_json::{Value, json};

use crate::cli::LabelsArgs;
use crate::client;
use crate::commands::client;
use crate::exit::Failure;
use crate::print;
use crate::runtime::on_one_thread;

/// `labels AGENT`.
pub fn labels(args: &LabelsArgs) -> Result<(), Failure> {
    let agent = format!("/api/agents/{}", client::percent_encoded(&args.agent));
    let sets = args.none || !args.labels.is_empty();
    let answer = on_one_thread(async {
        let client = client(&args.server)?;
        match sets {
            true => client.change(Method::PUT, &format!("{agent}/labels"), &json!({"labels": args.labels})).await,
            false => client.get(&agent).await,
        }
    })?;
    if args.server.json {
        return print::json(&answer);
    }
    let answer: Value = client::read(&answer)?;
    let labels: Vec<&str> = answer["labels"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    print::line(&if labels.is_empty() { format!("{} has no labels.", args.agent) } else { labels.join("\n") })
}
