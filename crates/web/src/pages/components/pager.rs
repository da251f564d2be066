//! Links from one page of a list to the next, which keep the filters.

/// The links below a list.
pub(in crate::pages) struct Pager {
    /// The newest page, if this is not the first one.
    pub(in crate::pages) first: Option<String>,
    /// The next page, if there is one.
    pub(in crate::pages) next: Option<String>,
}

impl Pager {
    /// The links of the list at `path` with this `query`, which continues at `next_cursor`.
    pub(in crate::pages) fn new(path: &str, query: &str, next_cursor: Option<String>) -> Pager {
        let pairs = || query.split('&').filter(|pair| !pair.is_empty());
        let is_kept = |pair: &&str| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            !value.is_empty() && !["cursor", "done", "undo"].contains(&name)
        };
        let kept = pairs().filter(is_kept).collect::<Vec<_>>().join("&");
        let first = pairs().any(|pair| pair.starts_with("cursor=")).then(|| join(path, &kept, ""));
        let next = next_cursor.map(|cursor| join(path, &kept, &format!("cursor={cursor}")));
        Pager { first, next }
    }

    pub(in crate::pages) fn is_needed(&self) -> bool {
        self.first.is_some() || self.next.is_some()
    }
}

fn join(path: &str, kept: &str, cursor: &str) -> String {
    match (kept, cursor) {
        ("", "") => path.to_owned(),
        ("", query) | (query, "") => format!("{path}?{query}"),
        (kept, cursor) => format!("{path}?{kept}&{cursor}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_kept_from_page_to_page() {
        let check = |query: &str, cursor: Option<&str>, first: Option<&str>, next: Option<&str>| {
            let pager = Pager::new("/x", query, cursor.map(str::to_owned));
            assert_eq!((pager.first.as_deref(), pager.next.as_deref()), (first, next), "{query}");
        };
        check("", None, None, None);
        check("", Some("abc"), None, Some("/x?cursor=abc"));
        check("agent=a&state=", Some("abc"), None, Some("/x?agent=a&cursor=abc"));
        check("agent=a&cursor=abc&done=saved", None, Some("/x?agent=a"), None);
        check("cursor=abc", Some("def"), Some("/x"), Some("/x?cursor=def"));
    }
}
