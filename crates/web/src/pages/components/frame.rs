//! The parts around every page: the place in the navigation, the theme, the number of stopped
//! agents, and a notice of the last action.

use std::convert::Infallible;

use axum::extract::{FromRef, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap, Uri};
use model::{Actor, ActorKind, Role};

use super::figures::Day;
use super::undo::{self, Undo};
use crate::app::App;
use crate::event_reader::EventReader;
use crate::gate::{Caller, cookie};
use crate::pages::words;
use crate::pages::words::labels::page;

/// The cookie that holds the theme.
pub(in crate::pages) const THEME_COOKIE: &str = "agentgazer_theme";

/// The frame of one page.
pub(crate) struct Frame {
    /// The path of the request.
    pub(in crate::pages) path: String,
    /// The path with its query, to return to: search and filters stay.
    pub(in crate::pages) address: String,
    /// How many agents the kill switch holds inactive; 0 also if that cannot be read, because the
    /// page itself then reports the error.
    pub(in crate::pages) stopped: u64,
    /// The notice of the last action.
    pub(in crate::pages) notice: Option<&'static str>,
    /// The form that undoes the last action.
    pub(in crate::pages) undo: Option<Undo>,
    pub(in crate::pages) theme: Theme,
    /// The viewer's day.
    pub(in crate::pages) day: Day,
    /// Reads events as far as the viewer may.
    pub(in crate::pages) events: EventReader,
    /// The role of the viewer.
    role: Option<Role>,
    /// Whether the viewer is a user, not a holder of a token.
    pub(in crate::pages) is_user: bool,
}

/// The parts of a request that a frame is made from.
pub(in crate::pages) struct Head {
    headers: HeaderMap,
    uri: Uri,
    actor: Option<Actor>,
}

impl Head {
    /// Reads them from the request.
    pub(in crate::pages) fn of(request: &Request) -> Head {
        Head::new(request.headers(), request.uri(), request.extensions())
    }

    fn new(headers: &HeaderMap, uri: &Uri, extensions: &Extensions) -> Head {
        Head { headers: headers.clone(), uri: uri.clone(), actor: Caller::of(extensions).cloned() }
    }
}

/// The theme: light, dark, or that of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::pages) enum Theme {
    System,
    Light,
    Dark,
}

impl Theme {
    /// Its name in the cookie and in the page.
    pub(in crate::pages) fn as_str(self) -> &'static str {
        match self {
            Theme::System => "system",
            Theme::Light => "light",
            Theme::Dark => "dark",
        }
    }

    /// The theme that this browser has chosen.
    pub(in crate::pages) fn of(headers: &HeaderMap) -> Theme {
        cookie(headers, THEME_COOKIE).and_then(Theme::parse).unwrap_or(Theme::System)
    }

    pub(in crate::pages) fn parse(word: &str) -> Option<Theme> {
        [Theme::System, Theme::Light, Theme::Dark].into_iter().find(|theme| theme.as_str() == word)
    }
}

/// One entry of the navigation.
pub(in crate::pages) struct Entry {
    pub(in crate::pages) path: &'static str,
    /// The name of its icon.
    pub(in crate::pages) icon: &'static str,
    pub(in crate::pages) word: &'static str,
    /// Whether it is beyond the four entries that fit on a phone.
    pub(in crate::pages) more: bool,
}

impl Entry {
    /// Whether the page with this path belongs to the entry.
    pub(in crate::pages) fn is_at(&self, path: &str) -> bool {
        match path.strip_prefix(self.path) {
            Some(rest) => rest.is_empty() || (self.path != "/" && rest.starts_with('/')),
            None => false,
        }
    }
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
    pub(in crate::pages) async fn new(app: &App, head: &Head) -> Frame {
        let Head { headers, uri, actor } = head;
        let counts = app.web().store.agent_counts().await;
        let query = uri.query().unwrap_or_default();
        Frame {
            path: uri.path().to_owned(),
            address: address(uri.path(), query),
            stopped: counts.map(|counts| counts.stopped).unwrap_or_default(),
            notice: action_of(query).and_then(words::notice),
            undo: action_of(query).and_then(|done| undo::of(uri.path(), done, query)),
            theme: Theme::of(headers),
            day: Day::new(headers, app.web().clock.now()),
            events: EventReader::new(app.clone(), actor.clone()),
            role: actor.as_ref().map(|actor| actor.role),
            is_user: actor.as_ref().is_some_and(|actor| actor.kind == ActorKind::User),
        }
    }

    /// Whether the viewer has at least `role`.
    pub(in crate::pages) fn may(&self, role: Role) -> bool {
        self.role >= Some(role)
    }

    /// Whether the viewer may stop, activate and exempt, and see bodies.
    pub(in crate::pages) fn may_operate(&self) -> bool {
        self.may(Role::Operator)
    }

    /// Whether the viewer may change settings.
    pub(in crate::pages) fn may_administer(&self) -> bool {
        self.may(Role::Admin)
    }

    pub(in crate::pages) fn entries(&self) -> &'static [Entry] {
        &ENTRIES
    }

    /// The theme, in words.
    pub(in crate::pages) fn theme_word(&self) -> &'static str {
        words::theme(self.theme)
    }

    /// The theme that the button leads to.
    pub(in crate::pages) fn next_theme(&self) -> &'static str {
        match self.theme {
            Theme::System => Theme::Dark.as_str(),
            Theme::Dark => Theme::Light.as_str(),
            Theme::Light => Theme::System.as_str(),
        }
    }
}

/// A path with its query, without the parameters that report an action.
fn address(path: &str, query: &str) -> String {
    let kept: Vec<_> =
        query.split('&').filter(|pair| !pair.starts_with("done=") && !pair.starts_with("undo=")).collect();
    let query = kept.join("&");
    if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
}

/// The word after `done=`, with which an action redirects back.
fn action_of(query: &str) -> Option<&str> {
    query.split('&').find_map(|pair| pair.strip_prefix("done="))
}

impl<S: Send + Sync> FromRequestParts<S> for Frame
where
    App: FromRef<S>,
{
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        let head = Head::new(&parts.headers, &parts.uri, &parts.extensions);
        Ok(Frame::new(&App::from_ref(state), &head).await)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn navigation_marks_the_current_page() {
        let here = |path: &str| {
            let here: Vec<_> = ENTRIES.iter().filter(|entry| entry.is_at(path)).map(|entry| entry.word).collect();
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
    fn notice_is_a_known_word() {
        assert_eq!(action_of("a=b&done=saved"), Some("saved"));
        assert_eq!(action_of("abandoned=x"), None);
    }
}
