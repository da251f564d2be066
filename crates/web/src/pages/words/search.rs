//! What the search says, and the places it knows.

use model::{EventType, IncidentState};

use super::event;
use super::incident::state;

pub(in crate::pages) const AGENTS: &str = "Agents";
pub(in crate::pages) const INCIDENTS: &str = "Incidents";
pub(in crate::pages) const REQUESTS: &str = "Requests";
pub(in crate::pages) const PLACES: &str = "Pages and settings";

/// A page, or a part of one where something is set.
pub(in crate::pages) struct Place {
    pub(in crate::pages) href: &'static str,
    pub(in crate::pages) title: &'static str,
    /// Other words for it.
    pub(in crate::pages) also: &'static str,
}

pub(in crate::pages) const PLACES_KNOWN: [Place; 16] = [
    Place { href: "/", title: "Overview", also: "home start today dashboard" },
    Place { href: "/agents", title: "Agents", also: "active inactive stopped list" },
    Place { href: "/agents?state=stopped", title: "Stopped agents", also: "killed kill switch deactivated activate" },
    Place { href: "/incidents", title: "Incidents", also: "kills loops evidence" },
    Place { href: "/requests", title: "Requests", also: "log calls events export csv json" },
    Place { href: "/requests?show=failed", title: "Failed requests", also: "errors" },
    Place { href: "/requests?show=blocked", title: "Refused requests", also: "blocked" },
    Place { href: "/requests?show=slow", title: "Slow requests", also: "latency" },
    Place { href: "/alerts#channels-title", title: "Alert channels", also: "webhook email mail slack telegram notify" },
    Place { href: "/alerts#rules-title", title: "Alert rules", also: "error rate silence budget notify" },
    Place { href: "/costs", title: "Costs", also: "money spend budget price" },
    Place { href: "/settings#providers", title: "Providers", also: "settings key base url openai anthropic" },
    Place {
        href: "/settings#defaults",
        title: "New agents start with",
        also: "settings default kill switch window threshold",
    },
    Place { href: "/settings#retention", title: "Kept for", also: "settings retention days delete old records" },
    Place { href: "/settings#token", title: "Token and sessions", also: "settings password log out login" },
    Place { href: "/settings#health", title: "This server", also: "settings health database size status version" },
];

/// `Open, score 13.0 / 10`
pub(in crate::pages) fn incident(of_state: IncidentState, score: f64, threshold: f64) -> String {
    format!("{}, score {score:.1} / {threshold}", state(of_state))
}

/// `import-fixer: Call 200`
pub(in crate::pages) fn request(agent: &str, event_type: EventType, status: Option<u16>) -> String {
    let status = status.map(|status| format!(" {status}")).unwrap_or_default();
    format!("{agent}: {}{status}", event(event_type))
}
