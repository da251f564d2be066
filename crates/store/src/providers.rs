//! Providers that an operator changed, with their keys encrypted at rest.

use model::Provider;

use crate::{Store, StoreError};

impl Store {
    /// The stored providers, keys decrypted.
    pub async fn providers(&self) -> Result<Vec<Provider>, StoreError> {
        todo!()
    }
}
