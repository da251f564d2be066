#![allow(clippy::unwrap_used, reason = "a test may")]

use super::*;

/// Dollars per million tokens of input and output, as the table writes them.
fn priced(provider: &str, model: &str) -> Option<String> {
    let price = Prices::builtin().price(provider, model)?;
    let line = price_line("x", &price);
    Some(line.split(' ').skip(1).take(2).collect::<Vec<_>>().join("/"))
}

#[test]
fn every_line_of_the_table_is_read() {
    let lines = table::BUILT_IN.lines().filter(|line| !line.starts_with(['#', '@'])).count();
    assert_eq!(table::entries(table::BUILT_IN).count(), lines);
    assert!(lines > 500, "{lines}");
    for (_, model, price) in table::entries(table::BUILT_IN) {
        assert_eq!(table::parse(&price_line(model, &price)), Some((model, price)));
    }
    assert!(table::BUILT_IN.starts_with("# Prices of 20"), "the table says of which day it is");
}

#[test]
fn every_built_in_provider_has_prices() {
    for provider in crate::builtin_providers() {
        let known = Prices::builtin().by_provider.contains_key(&provider.name);
        assert!(known || RESELLERS.contains(&provider.name.as_str()), "{}", provider.name);
    }
}

#[test]
fn a_model_is_found_by_the_names_that_clients_use() {
    let check = |provider: &str, model: &str, expected: &str| {
        assert_eq!(priced(provider, model).as_deref(), Some(expected), "{provider} {model}");
    };
    check("openai", "gpt-4o", "2.5/10");
    check("openai", "GPT-4o", "2.5/10");
    check("openai", "openai/gpt-4o", "2.5/10");
    check("openai", "gpt-4o-2024-11-20", "2.5/10");
    check("openai", "gpt-4o-2024-05-13", "5/15");
    check("openai", "gpt-4-0613", "30/60");
    check("openai", "o3-2025-04-16", "2/8");
    check("openai", "gpt-5-mini-2025-08-07", "0.25/2");
    check("openai", "ft:gpt-4o-mini-2024-07-18:acme::9xYz", "0.3/1.2");
    check("anthropic", "claude-sonnet-4-5-20250929", "3/15");
    check("anthropic", "claude-sonnet-4.5", "3/15");
    check("anthropic", "claude-sonnet-4-5@20250929", "3/15");
    check("anthropic", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "3/15");
    check("anthropic", "claude-haiku-4-5-latest", "1/5");
    check("google", "models/gemini-2.5-flash", "0.3/2.5");
    check("google", "gemini-2.5-flash-preview-09-2025", "0.3/2.5");
    check("google", "gemini-2.5-flash-001", "0.3/2.5");
    check("google", "gemini-3.1-pro", "2/12");
    check("mistral", "mistral-large-latest", "0.5/1.5");
    check("deepseek", "deepseek-chat", "0.28/0.42");
    check("xai", "grok-4.3", "1.25/2.5");
    check("zhipu", "GLM-4.6", "0.6/2.2");
    check("minimax", "MiniMax-M2", "0.3/1.2");
    check("moonshot", "kimi-k2.5", "0.6/3");
    check("groq", "openai/gpt-oss-120b", "0.15/0.6");
    check("openrouter", "anthropic/claude-sonnet-4.5", "3/15");
    check("openrouter", "anthropic/claude-sonnet-4.5:beta", "3/15");
    check("openrouter", "google/gemini-2.5-pro", "1.25/10");
    check("openrouter", "x-ai/grok-4.3", "1.25/2.5");
    check("openrouter", "deepseek/deepseek-chat:free", "0/0");
    check("ollama", "llama3.2:latest", "0/0");
    check("my-gateway", "gpt-4o", "2.5/10");
    check("my-gateway", "anthropic/claude-sonnet-4-5", "3/15");
}

#[test]
fn an_unknown_model_is_unpriced() {
    for (provider, model) in [
        ("openai", "gpt-99"),
        ("openai", ""),
        ("anthropic", "gpt-4o"),
        ("groq", "anthropic/claude-sonnet-4-5"),
        ("openrouter", "acme/unheard-of"),
        ("my-gateway", "llama-3"),
    ] {
        assert_eq!(priced(provider, model), None, "{provider} {model}");
    }
    assert_eq!(priced("openai", &"gpt-4o".repeat(100)), None);
}

#[test]
fn tokens_are_charged_by_their_kind() {
    let price = table::parse("m 3 15 r0.3 w3.75 l6 >200000 6 22.5 r0.6 w7.5").unwrap().1;
    let check = |usage: Usage, expected: i64| assert_eq!(price.cost(&usage).nanos(), expected, "{usage:?}");
    check(Usage::default(), 0);
    check(Usage { input: Some(1_000), output: Some(100), ..Usage::default() }, 3_000_000 + 1_500_000);
    let cached = Usage { input: Some(1_000), cached: Some(600), cache_write: Some(300), ..Usage::default() };
    check(cached, 100 * 3_000 + 600 * 300 + 300 * 3_750);
    check(Usage { cache_write_long: Some(200), ..cached }, 100 * 3_000 + 600 * 300 + 100 * 3_750 + 200 * 6_000);
    // More cached tokens than input: the excess costs nothing.
    check(Usage { input: Some(10), cached: Some(20), ..Usage::default() }, 20 * 300);
    check(Usage { input: Some(200_000), output: Some(1), ..Usage::default() }, 200_000 * 3_000 + 15_000);
    check(Usage { input: Some(200_001), output: Some(1), ..Usage::default() }, 200_001 * 6_000 + 22_500);
    check(Usage { input: Some(u64::MAX), output: Some(u64::MAX), ..Usage::default() }, i64::MAX);
}

#[test]
fn a_cost_is_rounded_once() {
    let price = table::parse("m 0.0004 0.0004 r0.0004").unwrap().1;
    let usage = |tokens| Usage { input: Some(tokens), output: Some(tokens), ..Usage::default() };
    // 0.4 billionths per token: 0.8 for two, 1.6 for four.
    assert_eq!([1, 2].map(|tokens| price.cost(&usage(tokens)).nanos()), [1, 2]);
}

#[test]
fn the_operators_prices_come_first() {
    let mut prices = Prices::builtin();
    let usage = Usage { input: Some(1_000_000), ..Usage::default() };
    let own = Price { base: Rates::plain(7, 8), above: None };
    assert!(prices.cost("openai", "gpt-4o", &usage).unwrap().nanos() > 7);
    prices.put("openai", "gpt-4o", own);
    assert_eq!(prices.cost("openai", "gpt-4o", &usage), Some(NanoUsd::new(7)));
    prices.put("local", "*", Price::default());
    assert_eq!(prices.cost("local", "whatever", &usage), Some(NanoUsd::ZERO));
}

#[test]
fn an_unpriced_call_counts_as_the_most_expensive_one() {
    let mut prices = Prices::default();
    prices.put("a", "cheap", Price { base: Rates::plain(1, 9), above: Some((10, Rates::plain(3, 3))) });
    prices.put("a", "dear", Price { base: Rates::plain(2, 2), above: None });
    prices.put("b", "other", Price { base: Rates::plain(5, 5), above: None });
    let usage = Usage { input: Some(1_000_000), output: Some(1_000_000), ..Usage::default() };
    assert_eq!(prices.counted("a", "new", &usage).nanos(), 3 + 9);
    assert_eq!(prices.counted("c", "new", &usage).nanos(), 5 + 9);
    assert_eq!(prices.counted("b", "other", &usage).nanos(), 10);
    prices.put("a", "cheap", Price { base: Rates::plain(1, 1), above: None });
    assert_eq!(prices.counted("a", "new", &usage).nanos(), 2 + 2, "a price that was replaced counts no more");
    prices.count_unpriced_as(Unpriced::Free);
    assert_eq!(prices.counted("a", "new", &usage), NanoUsd::ZERO);
}
