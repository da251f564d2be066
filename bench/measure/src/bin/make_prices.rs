//! Makes `crates/wire/src/prices/prices.txt` from the price list of the Python package litellm
//! (MIT): only facts are taken (names and prices), for the providers that are built in, in a form
//! of our own. See docs/costs.md.
//!
//! `cargo run -p measure --bin make_prices -- FILE DATE VERSION >
//! crates/wire/src/prices/prices.txt`
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, reason = "a tool for developers")]

use std::collections::BTreeMap;

use serde_json::Value;
use wire::{Price, Prices, Rates, price_line};

/// Their word for a provider, what stands before its models' names, and our word for it.
const PROVIDERS: [(&str, &str, &str); 12] = [
    ("openai", "", "openai"),
    ("anthropic", "", "anthropic"),
    ("gemini", "gemini/", "google"),
    ("mistral", "mistral/", "mistral"),
    ("deepseek", "deepseek/", "deepseek"),
    ("moonshot", "moonshot/", "moonshot"),
    ("zai", "zai/", "zhipu"),
    ("minimax", "minimax/", "minimax"),
    ("groq", "groq/", "groq"),
    ("xai", "xai/", "xai"),
    ("together_ai", "together_ai/", "together"),
    ("fireworks_ai", "fireworks_ai/", "fireworks"),
];

/// What has a price per token and an endpoint that we can read or will.
const MODES: [&str; 4] = ["chat", "responses", "completion", "embedding"];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, date, version] = arguments.as_slice() else { panic!("give FILE, DATE and VERSION") };
    let list: BTreeMap<String, Value> = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    println!("# Prices of {date}, from the Python package litellm {version} (MIT, Copyright 2023 Berri AI)");
    for (theirs, prefix, ours) in PROVIDERS {
        println!("@{ours}");
        let mut kept = Prices::default();
        for (model, price) in models(&list, theirs, prefix) {
            // A name that is priced the same by what is listed already says nothing new.
            if kept.price(ours, &model) != Some(price) {
                println!("{}", price_line(&model, &price));
                kept.put(ours, &model, price);
            }
        }
    }
    // Models that run on the machine itself.
    println!("@ollama\n{}", price_line("*", &Price::default()));
}

/// The models of a provider with their prices, the shortest names first: longer ones are mostly the
/// same with a date.
fn models(list: &BTreeMap<String, Value>, provider: &str, prefix: &str) -> Vec<(String, Price)> {
    let mut models: Vec<_> = list
        .iter()
        .filter(|(_, facts)| facts["litellm_provider"] == provider)
        .filter(|(_, facts)| facts["mode"].as_str().is_some_and(|mode| MODES.contains(&mode)))
        .filter_map(|(name, facts)| Some((name.strip_prefix(prefix)?.to_owned(), price(facts)?)))
        .filter(|(name, _)| !name.contains(' '))
        .collect();
    models.sort_by_key(|(name, _)| (name.len(), name.clone()));
    models
}

fn price(facts: &Value) -> Option<Price> {
    let base = rates(facts, "", None)?;
    if base.input == 0 && base.output == 0 {
        return None;
    }
    let above = facts.as_object()?.keys().find_map(|key| {
        let thousands = key.strip_prefix("input_cost_per_token_above_")?.strip_suffix("k_tokens")?;
        Some((thousands.parse::<u64>().ok()? * 1000, format!("_above_{thousands}k_tokens")))
    });
    let above = above.and_then(|(threshold, suffix)| Some((threshold, rates(facts, &suffix, Some(base))?)));
    Some(Price { base, above })
}

/// The rates whose names end with `suffix`; what is missing is as in `base`, else as for any input.
fn rates(facts: &Value, suffix: &str, base: Option<Rates>) -> Option<Rates> {
    let rate = |name: &str| facts[format!("{name}{suffix}")].as_f64().map(billionths_per_million);
    let input = rate("input_cost_per_token")?;
    let output = rate("output_cost_per_token").or(base.map(|base| base.output)).unwrap_or(0);
    let cache = |name: &str| rate(name).filter(|rate| *rate > 0);
    let cache_write = cache("cache_creation_input_token_cost").unwrap_or(input);
    let long = facts[format!("cache_creation_input_token_cost_above_1hr{suffix}")].as_f64();
    Some(Rates {
        input,
        output,
        cache_read: cache("cache_read_input_token_cost").unwrap_or(input),
        cache_write,
        cache_write_long: long.map_or(cache_write, billionths_per_million),
    })
}

fn billionths_per_million(dollars_per_token: f64) -> u64 {
    (dollars_per_token * 1e15).round() as u64
}
