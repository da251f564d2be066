//! Prices and costs of calls: the built-in table and the operator's own prices on top. A model
//! without a price is unpriced, never free.

mod estimate;
mod name;
mod price;
mod provider_prices;
mod table;

use std::collections::BTreeMap;
use std::sync::RwLock;

use model::{NanoUsd, Usage};

pub use estimate::{asked_tokens, body_tokens, estimated_usage};
pub use price::{Price, Rates};
pub use table::line as price_line;

use provider_prices::ProviderPrices;

/// The longest name of a model that is looked up.
const LONGEST_NAME: usize = 256;
/// The number of cached lookups. Names come from clients, so the cache must be bounded.
const MAX_LOOKUPS: usize = 4096;

/// Resellers, which name models `vendor/model`. The vendor's price applies if they have none of
/// their own.
const RESELLERS: [&str; 1] = ["openrouter"];

/// What a call to an unpriced model counts towards a budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, strum::EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum Unpriced {
    /// The cost with the most expensive known model of its provider.
    #[default]
    MostExpensive,
    /// Nothing.
    Free,
}

impl Unpriced {
    /// Parses the name.
    pub fn parse(word: &str) -> Option<Unpriced> {
        word.parse().ok()
    }
}

/// All known prices.
#[derive(Debug, Default)]
pub struct Prices {
    by_provider: BTreeMap<String, ProviderPrices>,
    unpriced: Unpriced,
    /// Cached lookups by provider and model. There are few, so a tree is faster than hashing names.
    lookups: RwLock<BTreeMap<String, BTreeMap<String, Option<Price>>>>,
}

impl Prices {
    /// The built-in prices.
    pub fn builtin() -> Prices {
        let mut prices = Prices::default();
        for (provider, model, price) in table::entries(table::BUILT_IN) {
            prices.put(provider, model, price);
        }
        prices
    }

    /// Adds or replaces a price. `*` stands for every model of the provider without a price.
    pub fn put(&mut self, provider: &str, model: &str, price: Price) {
        self.by_provider.entry(provider.to_owned()).or_default().put(model, price);
        if let Ok(lookups) = self.lookups.get_mut() {
            lookups.clear();
        }
    }

    /// Sets what unpriced calls count towards budgets.
    pub fn count_unpriced_as(&mut self, unpriced: Unpriced) {
        self.unpriced = unpriced;
    }

    /// The price of a model, if it is known.
    pub fn price(&self, provider: &str, model: &str) -> Option<Price> {
        if model.len() > LONGEST_NAME {
            return None;
        }
        if let Ok(lookups) = self.lookups.read()
            && let Some(price) = lookups.get(provider).and_then(|models| models.get(model))
        {
            return *price;
        }
        let price = self.look_up(provider, model);
        if let Ok(mut lookups) = self.lookups.write() {
            if lookups.values().map(BTreeMap::len).sum::<usize>() >= MAX_LOOKUPS {
                lookups.clear();
            }
            lookups.entry(provider.to_owned()).or_default().insert(model.to_owned(), price);
        }
        price
    }

    /// The cost of `usage`. `None` if the model is unpriced.
    pub fn cost(&self, provider: &str, model: &str, usage: &Usage) -> Option<NanoUsd> {
        self.price(provider, model).map(|price| price.cost(usage))
    }

    /// What `usage` counts towards a budget, also for an unpriced model.
    pub fn counted(&self, provider: &str, model: &str, usage: &Usage) -> NanoUsd {
        match (self.cost(provider, model, usage), self.unpriced) {
            (Some(cost), _) => cost,
            (None, Unpriced::MostExpensive) => self.most_expensive(provider).cost(usage),
            (None, Unpriced::Free) => NanoUsd::ZERO,
        }
    }

    /// An upper bound for the prices of this provider's known models, or of all models if it has
    /// none.
    pub fn most_expensive(&self, provider: &str) -> Price {
        match self.by_provider.get(provider) {
            Some(book) if !book.is_empty() => book.most_expensive(),
            _ => self.by_provider.values().map(ProviderPrices::most_expensive).fold(Price::default(), Price::max),
        }
    }

    fn look_up(&self, provider: &str, model: &str) -> Option<Price> {
        let book = self.by_provider.get(provider);
        let own = book.and_then(|book| book.find(model));
        own.or_else(|| self.vendor_price(provider, model)).or_else(|| book?.price_of_any_model())
    }

    /// The vendor's own price of a model that a reseller or an unknown gateway offers.
    fn vendor_price(&self, provider: &str, model: &str) -> Option<Price> {
        let is_reseller = RESELLERS.contains(&provider);
        if self.by_provider.contains_key(provider) && !is_reseller {
            return None;
        }
        // A free model ends with `:free`; other endings choose among the vendor's servers.
        let (model, variant) = if is_reseller { model.split_once(':').unwrap_or((model, "")) } else { (model, "") };
        if variant == "free" {
            return Some(Price::default());
        }
        match name::vendor(model) {
            Some((vendor, model)) => self.by_provider.get(vendor)?.find(model),
            None => name::VENDORS.iter().find_map(|(_, vendor)| self.by_provider.get(*vendor)?.find(model)),
        }
    }
}

#[cfg(test)]
mod tests;
