//! Parses the table of built-in prices: dollars per million tokens, one line per model below its
//! provider.
//!
//! `name input output [rCACHE_READ] [wCACHE_WRITE] [lCACHE_WRITE_LONG] [>TOKENS input output …]`;
//! the second half is for calls with more input tokens than that. Cached input without a price
//! costs as much as input.

use super::price::{Price, Rates};

pub(super) const BUILT_IN: &str = include_str!("prices.txt");

/// The number of decimals of a billionth of a dollar.
const DECIMALS: usize = 9;

/// The entries of `text`: provider, model, price. Invalid lines are skipped; a test checks that
/// there are none.
pub(super) fn entries(text: &str) -> impl Iterator<Item = (&str, &str, Price)> {
    let mut provider = "";
    text.lines().filter_map(move |line| {
        if let Some(name) = line.strip_prefix('@') {
            provider = name;
            return None;
        }
        let (model, price) = parse(line)?;
        Some((provider, model, price))
    })
}

/// Reads one line.
pub(super) fn parse(line: &str) -> Option<(&str, Price)> {
    let mut words = line.split(' ');
    let model = words.next().filter(|name| !name.is_empty() && !name.starts_with('#'))?;
    let words: Vec<&str> = words.collect();
    let split = words.iter().position(|word| word.starts_with('>')).unwrap_or(words.len());
    let (base, above) = words.split_at(split);
    let above = match above.split_first() {
        Some((threshold, rates)) => Some((threshold[1..].parse().ok()?, parse_rates(rates)?)),
        None => None,
    };
    Some((model, Price { base: parse_rates(base)?, above }))
}

fn parse_rates(words: &[&str]) -> Option<Rates> {
    let (input, output, caches) = match words {
        [input, output, caches @ ..] => (dollars(input)?, dollars(output)?, caches),
        _ => return None,
    };
    let mut rates = Rates::plain(input, output);
    for cache in caches {
        match cache.split_at_checked(1)? {
            ("r", text) => rates.cache_read = dollars(text)?,
            ("w", text) => (rates.cache_write, rates.cache_write_long) = (dollars(text)?, dollars(text)?),
            ("l", text) => rates.cache_write_long = dollars(text)?,
            _ => return None,
        }
    }
    Some(rates)
}

/// Parses a decimal number of dollars into billionths, exactly.
fn dollars(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if fraction.len() > DECIMALS {
        return None;
    }
    format!("{whole}{fraction:0<DECIMALS$}").parse().ok()
}

/// Writes the line of a model.
pub fn line(model: &str, price: &Price) -> String {
    let mut line = format!("{model} {}", rates(&price.base));
    if let Some((threshold, above)) = &price.above {
        line.push_str(&format!(" >{threshold} {}", rates(above)));
    }
    line
}

fn rates(rates: &Rates) -> String {
    let mut words = vec![decimal(rates.input), decimal(rates.output)];
    if rates.cache_read != rates.input {
        words.push(format!("r{}", decimal(rates.cache_read)));
    }
    if rates.cache_write != rates.input {
        words.push(format!("w{}", decimal(rates.cache_write)));
    }
    if rates.cache_write_long != rates.cache_write {
        words.push(format!("l{}", decimal(rates.cache_write_long)));
    }
    words.join(" ")
}

fn decimal(billionths: u64) -> String {
    let text = format!("{}.{:09}", billionths / 1_000_000_000, billionths % 1_000_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
