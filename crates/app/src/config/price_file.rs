//! The operator's own prices: a TOML file with a table for each provider and model, in dollars per
//! million tokens.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use wire::{Price, Rates};

use super::value::Read;

/// Provider, model and price.
pub(super) type OwnPrice = (String, String, Price);

type Entries = BTreeMap<String, BTreeMap<String, Entry>>;

/// `[PROVIDER."MODEL"]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    input: Option<f64>,
    output: Option<f64>,
    cache_read: Option<f64>,
    cache_write: Option<f64>,
    cache_write_long: Option<f64>,
    above: Option<LongInputPrice>,
}

/// The price of calls with more input tokens.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LongInputPrice {
    tokens: u64,
    input: Option<f64>,
    output: Option<f64>,
    cache_read: Option<f64>,
    cache_write: Option<f64>,
    cache_write_long: Option<f64>,
}

/// Reads the file at `path`.
pub(super) fn read(path: &str) -> Read<Vec<OwnPrice>> {
    let text = std::fs::read_to_string(Path::new(path)).map_err(|error| format!("{path} cannot be read: {error}"))?;
    parse(&text).map_err(|message| format!("{path}: {message}"))
}

fn parse(text: &str) -> Read<Vec<OwnPrice>> {
    let located = |error: &toml::de::Error, field: &str| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        format!("line {}: {field}{}", before.matches('\n').count() + 1, error.message())
    };
    let document = toml::Deserializer::parse(text).map_err(|error| located(&error, ""))?;
    let entries: Entries = serde_path_to_error::deserialize(document)
        .map_err(|error| located(error.inner(), &format!("{}: ", field(error.path()))))?;
    let mut prices = Vec::new();
    for (provider, models) in entries {
        for (model, entry) in models {
            let price = entry.price().map_err(|wrong| format!("{provider}.{model:?}.{wrong}"))?;
            prices.push((provider.clone(), model, price));
        }
    }
    Ok(prices)
}

/// A path in the file, with the model quoted as in the file: model names contain dots.
fn field(path: &serde_path_to_error::Path) -> String {
    let quoted = |(depth, part): (usize, String)| if depth == 1 { format!("{part:?}") } else { part };
    let parts: Vec<String> = path.iter().map(ToString::to_string).enumerate().map(quoted).collect();
    parts.join(".")
}

impl Entry {
    fn price(&self) -> Read<Price> {
        let base = rates([self.input, self.output, self.cache_read, self.cache_write, self.cache_write_long])?;
        let above = match &self.above {
            None => None,
            Some(above) => Some((above.tokens, above.rates().map_err(|wrong| format!("above.{wrong}"))?)),
        };
        Ok(Price { base, above })
    }
}

impl LongInputPrice {
    fn rates(&self) -> Read<Rates> {
        rates([self.input, self.output, self.cache_read, self.cache_write, self.cache_write_long])
    }
}

fn rates([input, output, cache_read, cache_write, cache_write_long]: [Option<f64>; 5]) -> Read<Rates> {
    let rate = |name: &str, dollars: Option<f64>| dollars.map(|dollars| billionths(name, dollars)).transpose();
    let input = rate("input", input)?.ok_or("input is missing")?;
    let output = rate("output", output)?.ok_or("output is missing")?;
    let cache_write = rate("cache_write", cache_write)?.unwrap_or(input);
    Ok(Rates {
        input,
        output,
        cache_read: rate("cache_read", cache_read)?.unwrap_or(input),
        cache_write,
        cache_write_long: rate("cache_write_long", cache_write_long)?.unwrap_or(cache_write),
    })
}

fn billionths(name: &str, dollars: f64) -> Read<u64> {
    if !(0.0..=1e6).contains(&dollars) {
        return Err(format!("{name} must be dollars per million tokens from 0 to 1000000, not {dollars}"));
    }
    Ok((dollars * 1e9).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_are_dollars_per_million_tokens() {
        let text = "[openai.\"gpt-x\"]\ninput = 1.25\noutput = 10\ncache_read = 0.125\nabove = { tokens = 9, input = 2, output = 3 }\n[local.\"*\"]\ninput = 0\noutput = 0\n";
        let base = Rates { cache_read: 125_000_000, ..Rates::plain(1_250_000_000, 10_000_000_000) };
        let price = Price { base, above: Some((9, Rates::plain(2_000_000_000, 3_000_000_000))) };
        let expected =
            [("local".to_owned(), "*".to_owned(), Price::default()), ("openai".to_owned(), "gpt-x".to_owned(), price)];
        assert_eq!(parse(text), Ok(expected.to_vec()));
    }

    #[test]
    fn a_mistake_names_its_field() {
        let check = |text: &str, expected: &str| {
            let message = parse(text).err().unwrap_or_default();
            assert!(message.contains(expected), "{text}: {message}");
        };
        check("[openai.\"gpt-x\"]\ninput = 1", "openai.\"gpt-x\".output is missing");
        check(
            "[openai.\"gpt-x\"]\ninput = -1\noutput = 1",
            "openai.\"gpt-x\".input must be dollars per million tokens",
        );
        check("[openai.\"gpt-x\"]\ninput = nan\noutput = 1", "input must be");
        check("[a.b]\ninput = 1\noutput = 1\nabove = { tokens = 1, input = 1 }", "a.\"b\".above.output is missing");
        check("[a.b]\ninput = 1\noutput = 1\n\nprompt = 1", "line 5: a.\"b\".prompt: unknown field `prompt`");
        check("[a.b]\ninput = \"x\"\noutput = 1", "line 2: a.\"b\".input: invalid type: string");
        check(
            "[a.\"b-1.5\"]\ninput = 1\noutput = 1\nabove = { tokens = 1, input = 1, output = true }",
            "line 4: a.\"b-1.5\".above.output: invalid type: boolean",
        );
        check("a = 1", "line 1: a: invalid type: integer");
        check("[a.b\n", "line 1: ");
    }
}
