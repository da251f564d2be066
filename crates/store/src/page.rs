//! Lists come in pages, newest first, by keyset.

/// Where the next page starts: opaque to clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor(pub String);

/// Which page.
#[derive(Clone, Debug)]
pub struct PageRequest {
    /// How many items at most (1 to 500).
    pub limit: u32,
    /// Where it starts.
    pub cursor: Option<Cursor>,
}

/// One page.
#[derive(Clone, Debug)]
pub struct Page<T> {
    /// The items.
    pub items: Vec<T>,
    /// Where the next one starts; none if this is the last.
    pub next: Option<Cursor>,
}
