//! A page of a list.

use serde::Serialize;
use store::Page;
use utoipa::ToSchema;

/// A page of a list.
#[derive(Serialize, ToSchema)]
pub(crate) struct List<T> {
    /// The items of this page.
    pub(crate) items: Vec<T>,
    /// Give it as `cursor` to get the next page; `null` on the last one.
    pub(crate) next_cursor: Option<String>,
}

impl<T> List<T> {
    /// The page, with every row shown by `show`.
    pub(crate) fn of<R>(page: Page<R>, show: impl FnMut(R) -> T) -> List<T> {
        List { items: page.items.into_iter().map(show).collect(), next_cursor: page.next.map(|cursor| cursor.0) }
    }

    /// All there is, in one page.
    pub(crate) fn whole(items: Vec<T>) -> List<T> {
        List { items, next_cursor: None }
    }
}
