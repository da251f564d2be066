//! The price of one model, and what tokens cost at it.

use model::{NanoUsd, Usage};

/// Tokens that a rate is for.
const TOKENS: u128 = 1_000_000;

/// What tokens cost, in billionths of a dollar per million of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rates {
    /// Input.
    pub input: u64,
    /// Output, reasoning included.
    pub output: u64,
    /// Input read from the provider's cache.
    pub cache_read: u64,
    /// Input written to the provider's cache.
    pub cache_write: u64,
    /// Input written to the provider's cache for long.
    pub cache_write_long: u64,
}

impl Rates {
    /// Rates without a word on caches: input costs the same wherever it comes from.
    pub fn plain(input: u64, output: u64) -> Rates {
        Rates { input, output, cache_read: input, cache_write: input, cache_write_long: input }
    }

    /// The higher of each.
    fn max(self, other: Rates) -> Rates {
        Rates {
            input: self.input.max(other.input),
            output: self.output.max(other.output),
            cache_read: self.cache_read.max(other.cache_read),
            cache_write: self.cache_write.max(other.cache_write),
            cache_write_long: self.cache_write_long.max(other.cache_write_long),
        }
    }

    fn cost(self, usage: &Usage) -> NanoUsd {
        let count = |tokens: Option<u64>| tokens.unwrap_or(0);
        let cached = count(usage.cached);
        let written = count(usage.cache_write);
        let long = count(usage.cache_write_long).min(written);
        let plain = count(usage.input).saturating_sub(cached).saturating_sub(written);
        let parts = [
            (plain, self.input),
            (cached, self.cache_read),
            (written - long, self.cache_write),
            (long, self.cache_write_long),
            (count(usage.output), self.output),
        ];
        // Rounded once, so that the parts of a call do not each lose half a billionth.
        let total = parts.iter().fold(0_u128, |sum, (tokens, rate)| {
            sum.saturating_add(u128::from(*tokens).saturating_mul(u128::from(*rate)))
        });
        NanoUsd::new(i64::try_from((total + TOKENS / 2) / TOKENS).unwrap_or(i64::MAX))
    }
}

/// What a model costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Price {
    /// Of most calls.
    pub base: Rates,
    /// Of calls with more input tokens than this, all of them.
    pub above: Option<(u64, Rates)>,
}

impl Price {
    /// What `usage` costs.
    pub fn cost(&self, usage: &Usage) -> NanoUsd {
        match self.above {
            Some((threshold, rates)) if usage.input.unwrap_or(0) > threshold => rates.cost(usage),
            _ => self.base.cost(usage),
        }
    }

    /// A price that neither exceeds, however many tokens.
    pub(super) fn max(self, other: Price) -> Price {
        let highest = |price: Price| price.above.map_or(price.base, |(_, rates)| rates.max(price.base));
        Price { base: highest(self).max(highest(other)), above: None }
    }
}
