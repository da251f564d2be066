//! What surrounds every page: where it stands in the navigation, the theme, how many agents are
//! stopped, and what was just done.

use std::convert::Infallible;

use axum::extract::{FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Uri};
use model::Role;

use super::figures::Day;
use super::undo::{self, Undo};
use super::words;
use super::words::labels::page;
use crate::app::App;
use crate::gate::{Caller, cookie};

/// The cookie that holds the theme.
pub(super) const THEME_COOKIE: &str = "agentgazer_theme";

/// The frame of one page.
pub(crate) struct Frame {
    /// The path that was asked for.
    pub(super) path: String,
    /// The same with its query, to come back to: search and filters stay.
    pub(super) address: String,
    /// How many agents the kill switch holds inactive; 0 also if that cannot be read, which the
    /// page itself will say.
    pub(super) stopped: u64,
    /// What was just done.
    pub(super) notice: Option<&'static str>,
    /// What takes that back.
    pub(super) undo: Option<Undo>,
    pub(super) theme: Theme,
    /// The viewer's day.
    pub(super) day: Day,
    /// What the viewer may do.
    role: Option<Role>,
}

/// What a frame is made from.
pub(super) struct Head {
    headers: HeaderMap,
    uri: Uri,
    role: Option<Role>,
}

impl Head {
    /// What the request says of itself.
    pub(super) fn of(request: &Request) -> Head {
        let role = Caller::of(request.extensions()).map(|actor| actor.role);
        Head { headers: request.headers().clone(), uri: request.uri().clone(), role }
    }
}

/// Light, dark, or what the system says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Theme {
    System,
    Light,
    Dark,
}

impl Theme {
    /// The word for it in the cookie and in the page.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Theme::System => "system",
            Theme::Light => "light",
            Theme::Dark => "dark",
        }
    }

    /// The one that this browser has chosen.
    pub(super) fn of(headers: &HeaderMap) -> Theme {
        cookie(headers, THEME_COOKIE).and_then(Theme::parse).unwrap_or(Theme::System)
    }

    pub(super) fn parse(word: &str) -> Option<Theme> {
        [Theme::System, Theme::Light, Theme::Dark].into_iter().find(|theme| theme.as_str() == word)
    }
}

/// One entry of the navigation.
pub(super) struct Entry {
    pub(super) path: &'static str,
    /// The name of its picture.
    pub(super) icon: &'static str,
    pub(super) word: &'static str,
    /// Beyond the four that fit on a phone.
    pub(super) more: bool,
}

const ENTRIES: [Entry; 9] = [
    Entry { path: "/", icon: "overview", word: page::OVERVIEW, more: false },
    Entry { path: "/agents", icon: "agents", word: page::AGENTS, more: false },
    Entry { path: "/incidents", icon: "incidents", word: page::INCIDENTS, more: false },
    Entry { path: "/requests", icon: "requests", word: page::REQUESTS, more: false },
    Entry { path: "/alerts", icon: "alerts", word: page::ALERTS, more: true },
    Entry { path: "/costs", icon: "costs", word: page::COSTS, more: true },
    Entry { path: "/groups", icon: "groups", word: page::GROUPS, more: true },
    Entry { path: "/keys", icon: "keys", word: page::KEYS, more: true },
    Entry { path: "/settings", icon: "settings", word: page::SETTINGS, more: true },
];

impl Frame {
    pub(super) async fn new(app: &App, head: &Head) -> Frame {
        let Head { headers, uri, role } = head;
        let counts = app.web().store.agent_counts().await;
        let query = uri.query().unwrap_or_default();
        Frame {
            path: uri.path().to_owned(),
            address: address(uri.path(), query),
            stopped: counts.map(|counts| counts.stopped).unwrap_or_default(),
            notice: done(query).and_then(words::done),
            undo: done(query).and_then(|done| undo::of(uri.path(), done, query)),
            theme: Theme::of(headers),
            day: Day::new(headers, app.web().clock.now()),
            role: *role,
        }
    }

    /// Whether the viewer may do what `role` may.
    pub(super) fn may(&self, role: Role) -> bool {
        self.role >= Some(role)
    }

    /// Whether the viewer may stop, activate and exempt, and see bodies.
    pub(super) fn may_operate(&self) -> bool {
        self.may(Role::Operator)
    }

    /// Whether the viewer may change settings.
    pub(super) fn may_administer(&self) -> bool {
        self.may(Role::Admin)
    }

    pub(super) fn entries(&self) -> &'static [Entry] {
        &ENTRIES
    }

    /// Whether `entry` is where we are.
    pub(super) fn is_here(&self, entry: &Entry) -> bool {
        let rest = self.path.strip_prefix(entry.path);
        if entry.path == "/" {
            self.path == "/"
        } else {
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        }
    }

    /// The theme, in words.
    pub(super) fn theme_word(&self) -> &'static str {
        words::theme(self.theme)
    }

    /// The theme that the button leads to.
    pub(super) fn next_theme(&self) -> &'static str {
        match self.theme {
            Theme::System => Theme::Dark.as_str(),
            Theme::Dark => Theme::Light.as_str(),
            Theme::Light => Theme::System.as_str(),
        }
    }
}

/// A path with its query, without what says that something was just done.
fn address(path: &str, query: &str) -> String {
    let kept: Vec<_> =
        query.split('&').filter(|pair| !pair.starts_with("done=") && !pair.starts_with("undo=")).collect();
    let query = kept.join("&");
    if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
}

/// The word after `done=`, which the page of an action leads back with.
fn done(query: &str) -> Option<&str> {
    query.split('&').find_map(|pair| pair.strip_prefix("done="))
}

impl FromRequestParts<App> for Frame {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Infallible> {
        let role = Caller::of(&parts.extensions).map(|actor| actor.role);
        let head = Head { headers: parts.headers.clone(), uri: parts.uri.clone(), role };
        Ok(Frame::new(app, &head).await)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_navigation_says_where_we_are() {
        let frame = |path: &str| Frame {
            path: path.to_owned(),
            address: path.to_owned(),
            stopped: 0,
            notice: None,
            undo: None,
            theme: Theme::System,
            day: Day::new(&HeaderMap::new(), model::Timestamp::default()),
            role: None,
        };
        let here = |path: &str| {
            let frame = frame(path);
            let here: Vec<_> = ENTRIES.iter().filter(|entry| frame.is_here(entry)).map(|entry| entry.word).collect();
            here.join(" ")
        };
        assert_eq!(here("/"), "Overview");
        assert_eq!(here("/agents"), "Agents");
        assert_eq!(here("/agents/import-fixer"), "Agents");
        assert_eq!(here("/agentsomething"), "");
    }

    #[test]
    fn address_keeps_search_and_filters() {
        assert_eq!(address("/agents", "search=a&done=saved&state=active&undo=x"), "/agents?search=a&state=active");
        assert_eq!(address("/agents", "done=saved"), "/agents");
        assert_eq!(address("/", ""), "/");
    }

    #[test]
    fn what_was_done_is_a_word_of_ours() {
        assert_eq!(done("a=b&done=saved"), Some("saved"));
        assert_eq!(done("abandoned=x"), None);
    }
}
