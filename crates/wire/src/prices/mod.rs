//! What calls cost: the prices that are built in, those of the operator on top, and the cost of tokens. A model without a
//! price is unpriced, never free.

mod book;
mod estimate;
mod name;
mod price;
mod table;

use std::collections::HashMap;
use std::sync::RwLock;

use model::{NanoUsd, Usage};

pub use estimate::{asked_tokens, body_tokens, estimated_usage};
pub use price::{Price, Rates};
pub use table::line as price_line;

use book::Book;

/// The longest name of a model that is looked up.
const LONGEST_NAME: usize = 256;
/// How many answers are remembered. Names come from clients, so there must be an end to them.
const REMEMBERED: usize = 4096;

/// Providers that sell the models of others under `vendor/model`, at the vendor's price where they have none of their own.
const RESELLERS: [&str; 1] = ["openrouter"];

/// What a call of an unpriced model counts towards a budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unpriced {
    /// As much as it would with the most expensive known model of its provider.
    #[default]
    MostExpensive,
    /// Nothing.
    Free,
}

impl Unpriced {
    /// Reads the word.
    pub fn parse(word: &str) -> Option<Unpriced> {
        match word {
            "most_expensive" => Some(Unpriced::MostExpensive),
            "free" => Some(Unpriced::Free),
            _ => None,
        }
    }
}

/// All known prices.
#[derive(Debug, Default)]
pub struct Prices {
    books: HashMap<String, Book>,
    unpriced: Unpriced,
    /// What was looked up, by provider and model: the same few names with every call.
    found: RwLock<HashMap<String, HashMap<String, Option<Price>>>>,
}

impl Prices {
    /// The prices that are built in.
    pub fn builtin() -> Prices {
        let mut prices = Prices::default();
        for (provider, model, price) in table::entries(table::BUILT_IN) {
            prices.put(provider, model, price);
        }
        prices
    }

    /// Adds a price or replaces one. `*` is for every model of the provider that has no other.
    pub fn put(&mut self, provider: &str, model: &str, price: Price) {
        self.books.entry(provider.to_owned()).or_default().put(model, price);
        if let Ok(found) = self.found.get_mut() {
            found.clear();
        }
    }

    /// Says what unpriced calls count towards budgets.
    pub fn count_unpriced_as(&mut self, unpriced: Unpriced) {
        self.unpriced = unpriced;
    }

    /// The price of a model, if it is known.
    pub fn price(&self, provider: &str, model: &str) -> Option<Price> {
        if model.len() > LONGEST_NAME {
            return None;
        }
        if let Ok(found) = self.found.read()
            && let Some(price) = found.get(provider).and_then(|models| models.get(model))
        {
            return *price;
        }
        let price = self.look_up(provider, model);
        if let Ok(mut found) = self.found.write() {
            if found.values().map(HashMap::len).sum::<usize>() >= REMEMBERED {
                found.clear();
            }
            found.entry(provider.to_owned()).or_default().insert(model.to_owned(), price);
        }
        price
    }

    /// What `usage` of a model costs; none if the model is unpriced.
    pub fn cost(&self, provider: &str, model: &str, usage: &Usage) -> Option<NanoUsd> {
        self.price(provider, model).map(|price| price.cost(usage))
    }

    /// What `usage` counts towards a budget: its cost, and something for an unpriced model, too.
    pub fn counted(&self, provider: &str, model: &str, usage: &Usage) -> NanoUsd {
        match (self.cost(provider, model, usage), self.unpriced) {
            (Some(cost), _) => cost,
            (None, Unpriced::MostExpensive) => self.most_expensive(provider).cost(usage),
            (None, Unpriced::Free) => NanoUsd::ZERO,
        }
    }

    /// A price that no known model of this provider exceeds; of a provider without known models, no known model at all.
    pub fn most_expensive(&self, provider: &str) -> Price {
        match self.books.get(provider) {
            Some(book) if !book.is_empty() => book.most_expensive(),
            _ => self.books.values().map(Book::most_expensive).fold(Price::default(), Price::max),
        }
    }

    fn look_up(&self, provider: &str, model: &str) -> Option<Price> {
        let book = self.books.get(provider);
        let own = book.and_then(|book| book.find(model));
        own.or_else(|| self.of_vendor(provider, model)).or_else(|| book?.of_any_model())
    }

    /// The vendor's own price of a model that somebody else offers: a reseller, or a gateway that we know nothing of.
    fn of_vendor(&self, provider: &str, model: &str) -> Option<Price> {
        let is_reseller = RESELLERS.contains(&provider);
        if self.books.contains_key(provider) && !is_reseller {
            return None;
        }
        // What a reseller gives away says so in its name; other such endings choose among the vendor's servers.
        let (model, variant) = if is_reseller { model.split_once(':').unwrap_or((model, "")) } else { (model, "") };
        if variant == "free" {
            return Some(Price::default());
        }
        match name::vendor(model) {
            Some((vendor, model)) => self.books.get(vendor)?.find(model),
            None => name::VENDORS.iter().find_map(|(_, vendor)| self.books.get(*vendor)?.find(model)),
        }
    }
}

#[cfg(test)]
mod tests;
