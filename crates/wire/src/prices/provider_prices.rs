//! The prices of one provider, found by any of a model's names.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::name;
use super::price::Price;

/// The name that stands for every model.
const ANY: &str = "*";

/// The prices of one provider.
#[derive(Debug, Default)]
pub(super) struct ProviderPrices {
    models: HashMap<String, Price>,
    /// By name without date or version: the newest model of that name.
    undated: HashMap<String, (String, Price)>,
    /// Computed on first use.
    most_expensive: OnceLock<Price>,
}

impl ProviderPrices {
    pub(super) fn put(&mut self, model: &str, price: Price) {
        let key = name::key(model);
        let undated = name::undated(&key).to_owned();
        let is_newer = self.undated.get(&undated).is_none_or(|(known, _)| name::is_newer(&key, known));
        if undated != key && is_newer {
            self.undated.insert(undated, (key.clone(), price));
        }
        self.models.insert(key, price);
        self.most_expensive = OnceLock::new();
    }

    /// The price of a model by its name, or else by its name without date, version or prefix.
    pub(super) fn find(&self, model: &str) -> Option<Price> {
        let key = name::key(model);
        self.get(&key).or_else(|| self.get(name::undated(&key)))
    }

    pub(super) fn price_of_any_model(&self) -> Option<Price> {
        self.models.get(ANY).copied()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.models.is_empty()
    }

    pub(super) fn most_expensive(&self) -> Price {
        *self.most_expensive.get_or_init(|| self.models.values().copied().fold(Price::default(), Price::max))
    }

    fn get(&self, key: &str) -> Option<Price> {
        self.models.get(key).or_else(|| self.undated.get(key).map(|(_, price)| price)).copied()
    }
}
