//! The words of the search, and the pages and settings that it knows.

use model::{EventType, IncidentState, Role};

use super::event;
use super::incident::state;

pub(in crate::pages) const AGENTS: &str = "Agents";
pub(in crate::pages) const INCIDENTS: &str = "Incidents";
pub(in crate::pages) const REQUESTS: &str = "Requests";
pub(in crate::pages) const PLACES: &str = "Pages and settings";

/// A page, or a part of one with settings.
pub(in crate::pages) struct Place {
    pub(in crate::pages) href: &'static str,
    pub(in crate::pages) title: &'static str,
    /// Further words that find it.
    pub(in crate::pages) also: &'static str,
    /// The role that may see it.
    pub(in crate::pages) needs: Role,
}

const fn place(href: &'static str, title: &'static str, also: &'static str) -> Place {
    Place { href, title, also, needs: Role::Viewer }
}

impl Place {
    const fn for_admins(self) -> Place {
        Place { needs: Role::Admin, ..self }
    }
}

pub(in crate::pages) const PLACES_KNOWN: [Place; 25] = [
    place("/", "Overview", "home start today dashboard"),
    place("/agents", "Agents", "active inactive stopped list"),
    place("/agents?state=stopped", "Stopped agents", "killed kill switch deactivated activate"),
    place("/incidents", "Incidents", "kills loops evidence"),
    place("/requests", "Requests", "log calls events export csv json"),
    place("/requests?show=failed", "Failed requests", "errors"),
    place("/requests?show=blocked", "Refused requests", "blocked"),
    place("/requests?show=slow", "Slow requests", "latency"),
    place("/alerts#channels-title", "Alert channels", "webhook email mail slack telegram notify"),
    place("/alerts#rules-title", "Alert rules", "error rate silence budget notify"),
    place("/costs", "Costs", "money spend budget price"),
    place("/wall", "Wall", "screen tv big display"),
    place("/groups", "Groups", "team shared budget stop together"),
    place("/keys", "Agent keys", "api key client agk"),
    place("/drill", "Drill", "rehearse test kill alert"),
    place("/settings#providers", "Providers", "settings key base url openai anthropic"),
    place("/settings#defaults", "New agents start with", "settings default kill switch window threshold"),
    place("/settings#retention", "Kept for", "settings retention days delete old records"),
    place("/settings#token", "Token and sessions", "settings password log out login"),
    place("/settings#health", "This server", "settings health database size status version"),
    place("/settings#default-policy", "Default policy", "settings budget hours rate limit models"),
    place("/settings#mail", "Mail server", "settings smtp email"),
    place("/settings/people", "Users, API tokens and sessions", "settings people roles login logged in").for_admins(),
    place("/settings/audit", "Audit log", "settings who changed what history").for_admins(),
    place("/settings/replicas", "Replicas", "settings servers cluster standby"),
];

/// How many calls one row stands for.
pub(in crate::pages) fn calls(count: u64) -> String {
    format!("{count} calls")
}

/// `Open, score 13.0 / 10`
pub(in crate::pages) fn incident(of_state: IncidentState, score: f64, threshold: f64) -> String {
    format!("{}, score {score:.1} / {threshold}", state(of_state))
}

/// `import-fixer: Call 200`
pub(in crate::pages) fn request(agent: &str, event_type: EventType, status: Option<u16>) -> String {
    let status = status.map(|status| format!(" {status}")).unwrap_or_default();
    format!("{agent}: {}{status}", event(event_type))
}
