//! Whether the database can be written to, for readiness.

/// How the writer fares. Cloning is cheap; all clones see the same.
#[derive(Clone, Debug, Default)]
pub struct Health {}

impl Health {
    /// Why nothing can be written at the moment; `None` if all is well.
    pub fn trouble(&self) -> Option<String> {
        todo!()
    }
}
