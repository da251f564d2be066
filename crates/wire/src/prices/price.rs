//! The price of one model, and the cost of tokens at that price.

use model::{NanoUsd, Usage};

/// The number of tokens per rate.
const TOKENS: u128 = 1_000_000;

/// Rates in billionths of a dollar per million tokens.
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
    /// Input written to the provider's long-lived cache.
    pub cache_write_long: u64,
}

impl Rates {
    /// Rates without cache prices: cached input costs as much as other input.
    pub fn plain(input: u64, output: u64) -> Rates {
        Rates { input, output, cache_read: input, cache_write: input, cache_write_long: input }
    }

    /// The higher rate of each kind.
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
        // Rounded once, not for each part of the call.
        let total = parts.iter().fold(0_u128, |sum, (tokens, rate)| {
            sum.saturating_add(u128::from(*tokens).saturating_mul(u128::from(*rate)))
        });
        NanoUsd::new(i64::try_from((total + TOKENS / 2) / TOKENS).unwrap_or(i64::MAX))
    }
}

/// The price of a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Price {
    /// The usual rates.
    pub base: Rates,
    /// The rates of calls with more input tokens than this, for all their tokens.
    pub above: Option<(u64, Rates)>,
}

impl Price {
    /// The cost of `usage`.
    pub fn cost(&self, usage: &Usage) -> NanoUsd {
        match self.above {
            Some((threshold, rates)) if usage.input.unwrap_or(0) > threshold => rates.cost(usage),
            _ => self.base.cost(usage),
        }
    }

    /// A price that is at least as high as both, for any number of tokens.
    pub(super) fn max(self, other: Price) -> Price {
        let highest = |price: Price| price.above.map_or(price.base, |(_, rates)| rates.max(price.base));
        Price { base: highest(self).max(highest(other)), above: None }
    }
}
