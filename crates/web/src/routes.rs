//! All routes of the listener with the role that each needs, and the layers before them.

mod description;
mod roles;
mod state;

use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub use self::description::openapi_json;

use self::roles::{ADMIN, OPERATOR, VIEWER};
use self::state::RouterState;
use crate::api::{
    agent_keys, agents, alert_history, alerts, channels, events, evidence, exemptions, export, groups, health,
    incidents, kill_switch, labels, metrics, offers, policy, providers, recording, replicas, settings, smtp, stats,
    status, stream, token,
};
use crate::app::App;
use crate::pages::live::RecentPages;
use crate::problem::Problem;
use crate::{Web, compression, gate, pages};

/// All routes.
pub fn router(web: Web) -> Router {
    let app = App::new(web);
    let known_callers = from_fn_with_state(app.clone(), gate::only_known_callers);

    let guarded = Router::from(api()).merge(guarded_pages(&app)).method_not_allowed_fallback(method_not_allowed);
    let guarded = guarded.fallback(pages::not_found).layer(known_callers);
    let open = Router::from(open_api()).merge(open_pages()).method_not_allowed_fallback(method_not_allowed);

    // The last layer is the first that a request meets.
    open.merge(guarded)
        .layer(from_fn_with_state(app.clone(), gate::point_to_proxy))
        .layer(from_fn_with_state(app.clone(), gate::refuse_other_sites))
        .layer(from_fn_with_state(app.clone(), gate::only_our_hosts))
        .layer(from_fn_with_state(app.clone(), gate::answer_safely))
        .layer(from_fn_with_state(app.clone(), gate::find_client))
        .layer(from_fn(compression::compress))
        .with_state(RouterState::new(app))
}

/// Routes that need no token.
fn open_api() -> OpenApiRouter<RouterState> {
    OpenApiRouter::new().routes(routes!(health::live)).routes(routes!(health::ready))
}

/// Routes that need a token or a session.
fn api() -> OpenApiRouter<RouterState> {
    agents_api()
        .routes(VIEWER.api(routes!(events::list)))
        .routes(VIEWER.api(routes!(export::get)))
        .routes(VIEWER.api(routes!(events::get)))
        .routes(VIEWER.api(routes!(stats::overview)))
        .merge(incidents_api())
        .merge(alerts_api())
        .merge(server_api())
        .merge(people_api())
        .routes(VIEWER.api(routes!(stream::get)))
        .routes(VIEWER.api(routes!(description::get)))
}

/// Routes about the server itself.
fn server_api() -> OpenApiRouter<RouterState> {
    OpenApiRouter::new()
        .routes(VIEWER.api(routes!(providers::list)))
        .routes(VIEWER.api(routes!(providers::get)))
        .routes(ADMIN.api(routes!(providers::put, providers::delete)))
        .routes(VIEWER.api(routes!(settings::get)))
        .routes(ADMIN.api(routes!(settings::put, settings::delete)))
        .routes(VIEWER.api(routes!(smtp::get)))
        .routes(ADMIN.api(routes!(smtp::put, smtp::delete)))
        .routes(ADMIN.api(routes!(smtp::test)))
        .routes(VIEWER.api(routes!(policy::get_default)))
        .routes(ADMIN.api(routes!(policy::put_default, policy::delete_default)))
        .routes(ADMIN.api(routes!(token::replace)))
        .routes(VIEWER.api(routes!(status::get)))
        .routes(VIEWER.api(routes!(metrics::get)))
        .routes(VIEWER.api(routes!(replicas::list)))
}

/// Routes about agents.
fn agents_api() -> OpenApiRouter<RouterState> {
    OpenApiRouter::new()
        .routes(VIEWER.api(routes!(agents::list)))
        .routes(VIEWER.api(routes!(agents::get)))
        .routes(OPERATOR.api(routes!(agents::patch)))
        .routes(ADMIN.api(routes!(agents::delete)))
        .routes(VIEWER.api(routes!(kill_switch::get)))
        .routes(ADMIN.api(routes!(kill_switch::put)))
        .routes(ADMIN.api(routes!(labels::put)))
        .routes(VIEWER.api(routes!(policy::get)))
        .routes(ADMIN.api(routes!(policy::put, policy::delete)))
        .routes(VIEWER.api(routes!(recording::get)))
        .routes(ADMIN.api(routes!(recording::put, recording::delete)))
        .routes(VIEWER.api(routes!(stats::agent)))
        .routes(VIEWER.api(routes!(agent_keys::list)))
        .routes(ADMIN.api(routes!(agent_keys::create)))
        .routes(VIEWER.api(routes!(agent_keys::get)))
        .routes(ADMIN.api(routes!(agent_keys::delete)))
        .routes(VIEWER.api(routes!(groups::list)))
        .routes(VIEWER.api(routes!(groups::get)))
        .routes(ADMIN.api(routes!(groups::put, groups::delete)))
        .routes(OPERATOR.api(routes!(groups::stop)))
        .routes(OPERATOR.api(routes!(groups::activate)))
}

/// Routes about incidents and exemptions. Exemptions and offers hold the beginning of a prompt.
fn incidents_api() -> OpenApiRouter<RouterState> {
    OpenApiRouter::new()
        .routes(VIEWER.api(routes!(incidents::list)))
        .routes(VIEWER.api(routes!(incidents::get)))
        .routes(ADMIN.api(routes!(incidents::delete)))
        .routes(OPERATOR.api(routes!(evidence::get)))
        .routes(OPERATOR.api(routes!(incidents::feedback)))
        .routes(OPERATOR.api(routes!(offers::list)))
        .routes(OPERATOR.api(routes!(exemptions::list, exemptions::create)))
        .routes(OPERATOR.api(routes!(exemptions::delete)))
}

/// Routes about channels, rules and their alerts.
fn alerts_api() -> OpenApiRouter<RouterState> {
    OpenApiRouter::new()
        .routes(VIEWER.api(routes!(channels::list)))
        .routes(ADMIN.api(routes!(channels::create)))
        .routes(VIEWER.api(routes!(channels::get)))
        .routes(ADMIN.api(routes!(channels::patch, channels::delete)))
        .routes(OPERATOR.api(routes!(channels::test)))
        .routes(VIEWER.api(routes!(alerts::list)))
        .routes(ADMIN.api(routes!(alerts::create)))
        .routes(VIEWER.api(routes!(alerts::get)))
        .routes(ADMIN.api(routes!(alerts::patch, alerts::delete)))
        .routes(VIEWER.api(routes!(alert_history::list)))
        .routes(VIEWER.api(routes!(alert_history::get)))
        .routes(OPERATOR.api(routes!(alert_history::retry)))
}

/// Routes about people, and the log of what they did.
fn people_api() -> OpenApiRouter<RouterState> {
    use crate::api::people::{audit, password, sessions, tokens, users};
    OpenApiRouter::new()
        .routes(VIEWER.api(routes!(password::change)))
        .routes(ADMIN.api(routes!(users::list, users::create)))
        .routes(ADMIN.api(routes!(users::patch, users::delete)))
        .routes(ADMIN.api(routes!(tokens::list, tokens::create)))
        .routes(ADMIN.api(routes!(tokens::get, tokens::revoke)))
        .routes(ADMIN.api(routes!(sessions::list)))
        .routes(ADMIN.api(routes!(sessions::end)))
        .routes(ADMIN.api(routes!(audit::list)))
}

/// Pages and files that need no session.
fn open_pages() -> Router<RouterState> {
    Router::new()
        .route("/login", get(pages::login::form).post(pages::login::submit))
        .route("/login/oidc", get(pages::login_provider::begin))
        .route("/login/oidc/callback", get(pages::login_provider::finish))
        .route("/static/{version}/{name}", get(pages::assets::file))
}

/// Pages and forms that need a session.
fn guarded_pages(app: &App) -> Router<RouterState> {
    use pages::overview::{self, wall};
    use pages::{costs, login, search, theme};
    Router::new()
        .route("/", VIEWER.page(get(overview::show)))
        .route("/search", VIEWER.page(get(search::show)))
        .route("/costs", VIEWER.page(get(costs::show)))
        .route("/wall", VIEWER.page(get(wall::show)))
        .route("/theme", VIEWER.page(post(theme::submit)))
        .route("/logout", VIEWER.page(post(login::logout)))
        .route("/logout/everywhere", VIEWER.page(post(login::logout_everywhere)))
        .merge(agents_pages())
        .merge(incidents_pages())
        .merge(alerts_pages())
        .merge(settings_pages())
        .merge(people_pages())
        .layer(from_fn_with_state(app.clone(), pages::say_on_a_page))
        .layer(from_fn_with_state(RecentPages::default(), pages::live::answer_with_changes))
}

/// Pages about agents, their keys and their groups.
fn agents_pages() -> Router<RouterState> {
    use pages::{agent, agents, exemptions, groups, keys};
    Router::new()
        .route("/agents", VIEWER.page(get(agents::show)))
        .route("/agents", OPERATOR.page(post(agents::selected::submit)))
        .route("/agents/{id}", VIEWER.page(get(agent::show)))
        .route("/agents/{id}/kill-switch", ADMIN.page(post(agent::settings::save)))
        .route("/agents/{id}/policy", ADMIN.page(post(agent::policy::save)))
        .route("/agents/{id}/policy/reset", ADMIN.page(post(agent::policy::reset)))
        .route("/agents/{id}/activate", OPERATOR.page(post(agent::actions::activate)))
        .route("/agents/{id}/deactivate", OPERATOR.page(post(agent::actions::deactivate)))
        .route("/agents/{id}/name", OPERATOR.page(post(agent::actions::rename)))
        .route("/agents/{id}/labels", ADMIN.page(post(agent::actions::label)))
        .route("/agents/{id}/recording", ADMIN.page(post(agent::actions::record)))
        .route("/agents/{id}/delete", ADMIN.page(post(agent::actions::delete)))
        .route("/agents/{id}/exemptions/{exemption}/revoke", OPERATOR.page(post(exemptions::revoke)))
        .route("/keys", VIEWER.page(get(keys::show)))
        .route("/keys", ADMIN.page(post(keys::create)))
        .route("/keys/{id}/revoke", ADMIN.page(post(keys::revoke)))
        .route("/groups", VIEWER.page(get(groups::show)))
        .route("/groups", ADMIN.page(post(groups::save)))
        .route("/groups/{name}/stop", OPERATOR.page(post(groups::stop)))
        .route("/groups/{name}/activate", OPERATOR.page(post(groups::activate)))
        .route("/groups/{name}/delete", ADMIN.page(post(groups::delete)))
}

/// Pages about incidents and the calls of agents.
fn incidents_pages() -> Router<RouterState> {
    use pages::requests::{self, request};
    use pages::{incident, incidents};
    Router::new()
        .route("/incidents", VIEWER.page(get(incidents::show)))
        .route("/incidents/{id}", VIEWER.page(get(incident::show)))
        .route("/incidents/{id}/feedback", OPERATOR.page(post(incident::actions::feedback)))
        .route("/incidents/{id}/exempt", OPERATOR.page(post(incident::false_alarm::exempt)))
        .route("/incidents/{id}/activate", OPERATOR.page(post(incident::actions::activate)))
        .route("/incidents/{id}/delete", ADMIN.page(post(incident::actions::delete)))
        .route("/incidents/{id}/evidence/{call}/{which}", OPERATOR.page(get(incident::actions::body)))
        .route("/requests", VIEWER.page(get(requests::show)))
        .route("/requests/{id}", VIEWER.page(get(request::show)))
        .route("/requests/{id}/{which}", OPERATOR.page(get(request::body)))
}

/// Pages about channels, rules and their alerts.
fn alerts_pages() -> Router<RouterState> {
    use pages::{alerts, drill};
    Router::new()
        .route("/alerts", VIEWER.page(get(alerts::show)))
        .route("/alerts/channels", ADMIN.page(post(alerts::actions::add_channel)))
        .route("/alerts/channels/{id}", ADMIN.page(post(alerts::actions::change_channel)))
        .route("/alerts/channels/{id}/test", OPERATOR.page(post(alerts::actions::test_channel)))
        .route("/alerts/channels/{id}/switch", ADMIN.page(post(alerts::actions::switch_channel)))
        .route("/alerts/channels/{id}/delete", ADMIN.page(post(alerts::actions::delete_channel)))
        .route("/alerts/rules", ADMIN.page(post(alerts::actions::add_rule)))
        .route("/alerts/rules/{id}", ADMIN.page(post(alerts::actions::change_rule)))
        .route("/alerts/rules/{id}/switch", ADMIN.page(post(alerts::actions::switch_rule)))
        .route("/alerts/rules/{id}/delete", ADMIN.page(post(alerts::actions::delete_rule)))
        .route("/alerts/history/{id}/retry", OPERATOR.page(post(alerts::actions::retry)))
        .route("/drill", VIEWER.page(get(drill::show)))
        .route("/drill", OPERATOR.page(post(drill::run)))
}

/// Pages about the server itself.
fn settings_pages() -> Router<RouterState> {
    use pages::settings;
    Router::new()
        .route("/settings", VIEWER.page(get(settings::show)))
        .route("/settings/replicas", VIEWER.page(get(settings::replicas::show)))
        .route("/settings/defaults", ADMIN.page(post(settings::general::save_defaults)))
        .route("/settings/retention", ADMIN.page(post(settings::general::save_retention)))
        .route("/settings/reset", ADMIN.page(post(settings::general::reset)))
        .route("/settings/policy", ADMIN.page(post(settings::policy::save)))
        .route("/settings/policy/reset", ADMIN.page(post(settings::policy::reset)))
        .route("/settings/mail", ADMIN.page(post(settings::mail::save)))
        .route("/settings/mail/reset", ADMIN.page(post(settings::mail::reset)))
        .route("/settings/mail/test", ADMIN.page(post(settings::mail::test)))
        .route("/settings/token", ADMIN.page(post(settings::token::replace)))
        .route("/settings/providers", ADMIN.page(post(settings::save_provider)))
        .route("/settings/providers/{name}/remove", ADMIN.page(post(settings::remove_provider)))
}

/// Pages about people, and the log of what they did.
fn people_pages() -> Router<RouterState> {
    use pages::settings::{audit, password, people};
    Router::new()
        .route("/settings/people", ADMIN.page(get(people::show)))
        .route("/settings/people/users", ADMIN.page(post(people::add_user)))
        .route("/settings/people/users/{id}", ADMIN.page(post(people::change_user)))
        .route("/settings/people/users/{id}/delete", ADMIN.page(post(people::delete_user)))
        .route("/settings/people/tokens", ADMIN.page(post(people::add_token)))
        .route("/settings/people/tokens/{id}/revoke", ADMIN.page(post(people::revoke_token)))
        .route("/settings/people/sessions/{id}/end", ADMIN.page(post(people::end_session)))
        .route("/settings/password", VIEWER.page(get(password::show).post(password::change)))
        .route("/settings/audit", ADMIN.page(get(audit::show)))
}

async fn method_not_allowed() -> Response {
    Problem::method_not_allowed().into_response()
}
