//! All routes of the listener, and the layers before them.

use std::sync::LazyLock;

use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::{
    agents, alert_history, alerts, channels, events, evidence, exemptions, export, health, incidents, kill_switch,
    offers, openapi, policy, providers, settings, stats, status, stream, token,
};
use crate::app::App;
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
        .layer(from_fn(gate::refuse_other_sites))
        .layer(from_fn_with_state(app.clone(), gate::only_our_hosts))
        .layer(from_fn(gate::answer_safely))
        .layer(from_fn(compression::compress))
        .with_state(app)
}

/// Routes that need no token.
fn open_api() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(health::live)).routes(routes!(health::ready))
}

/// Routes that need the token or a session.
fn api() -> OpenApiRouter<App> {
    agents_api()
        .routes(routes!(events::list))
        .routes(routes!(export::get))
        .routes(routes!(events::get))
        .routes(routes!(stats::overview))
        .merge(incidents_api())
        .merge(alerts_api())
        .merge(server_api())
        .routes(routes!(stream::get))
        .routes(routes!(openapi::get))
}

/// Routes about the server itself.
fn server_api() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(providers::list))
        .routes(routes!(providers::get, providers::put, providers::delete))
        .routes(routes!(settings::get, settings::put, settings::delete))
        .routes(routes!(policy::get_default, policy::put_default, policy::delete_default))
        .routes(routes!(token::replace))
        .routes(routes!(status::get))
}

/// Routes about agents.
fn agents_api() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(agents::list))
        .routes(routes!(agents::get, agents::patch, agents::delete))
        .routes(routes!(kill_switch::get, kill_switch::put))
        .routes(routes!(policy::get, policy::put, policy::delete))
        .routes(routes!(stats::agent))
}

/// Routes about incidents and exemptions.
fn incidents_api() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(incidents::list))
        .routes(routes!(incidents::get, incidents::delete))
        .routes(routes!(evidence::get))
        .routes(routes!(incidents::feedback))
        .routes(routes!(offers::list))
        .routes(routes!(exemptions::list, exemptions::create))
        .routes(routes!(exemptions::delete))
}

/// Routes about channels, rules and their alerts.
fn alerts_api() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(channels::list, channels::create))
        .routes(routes!(channels::get, channels::patch, channels::delete))
        .routes(routes!(channels::test))
        .routes(routes!(alerts::list, alerts::create))
        .routes(routes!(alerts::get, alerts::patch, alerts::delete))
        .routes(routes!(alert_history::list))
        .routes(routes!(alert_history::get))
        .routes(routes!(alert_history::retry))
}

/// Pages and files that need no session.
fn open_pages() -> Router<App> {
    Router::new()
        .route("/login", get(pages::login::form).post(pages::login::submit))
        .route("/static/{version}/{name}", get(pages::assets::file))
}

/// Pages and forms that need a session.
fn guarded_pages(app: &App) -> Router<App> {
    use pages::{
        agent, agents, alerts, costs, drill, exemptions, incident, incidents, login, overview, request, requests,
        search, settings, theme, wall,
    };
    Router::new()
        .route("/", get(overview::show))
        .route("/agents", get(agents::show))
        .route("/agents/selected", post(agents::selected::submit))
        .route("/agents/{id}", get(agent::show))
        .route("/agents/{id}/kill-switch", post(agent::settings::save))
        .route("/agents/{id}/policy", post(agent::policy::save))
        .route("/agents/{id}/policy/reset", post(agent::policy::reset))
        .route("/agents/{id}/activate", post(agent::actions::activate))
        .route("/agents/{id}/deactivate", post(agent::actions::deactivate))
        .route("/agents/{id}/name", post(agent::actions::rename))
        .route("/agents/{id}/delete", post(agent::actions::delete))
        .route("/agents/{id}/exemptions/{exemption}/revoke", post(exemptions::revoke))
        .route("/incidents", get(incidents::show))
        .route("/incidents/{id}", get(incident::show))
        .route("/incidents/{id}/feedback", post(incident::actions::feedback))
        .route("/incidents/{id}/exempt", post(incident::false_alarm::exempt))
        .route("/incidents/{id}/activate", post(incident::actions::activate))
        .route("/incidents/{id}/delete", post(incident::actions::delete))
        .route("/incidents/{id}/evidence/{call}/{which}", get(incident::actions::body))
        .route("/requests", get(requests::show))
        .route("/requests/{id}", get(request::show))
        .route("/requests/{id}/{which}", get(request::body))
        .route("/search", get(search::show))
        .route("/alerts", get(alerts::show))
        .route("/alerts/channels", post(alerts::actions::add_channel))
        .route("/alerts/channels/{id}", post(alerts::actions::change_channel))
        .route("/alerts/channels/{id}/test", post(alerts::actions::test_channel))
        .route("/alerts/channels/{id}/switch", post(alerts::actions::switch_channel))
        .route("/alerts/channels/{id}/delete", post(alerts::actions::delete_channel))
        .route("/alerts/rules", post(alerts::actions::add_rule))
        .route("/alerts/rules/{id}", post(alerts::actions::change_rule))
        .route("/alerts/rules/{id}/switch", post(alerts::actions::switch_rule))
        .route("/alerts/rules/{id}/delete", post(alerts::actions::delete_rule))
        .route("/alerts/history/{id}/retry", post(alerts::actions::retry))
        .route("/drill", get(drill::show).post(drill::run))
        .route("/costs", get(costs::show))
        .route("/settings", get(settings::show))
        .route("/settings/defaults", post(settings::general::save_defaults))
        .route("/settings/retention", post(settings::general::save_retention))
        .route("/settings/reset", post(settings::general::reset))
        .route("/settings/policy", post(settings::policy::save))
        .route("/settings/policy/reset", post(settings::policy::reset))
        .route("/settings/token", post(settings::token::replace))
        .route("/settings/providers", post(settings::save_provider))
        .route("/settings/providers/{name}/remove", post(settings::remove_provider))
        .route("/wall", get(wall::show))
        .route("/theme", post(theme::submit))
        .route("/logout", post(login::logout))
        .route("/logout/everywhere", post(login::logout_everywhere))
        .layer(from_fn_with_state(app.clone(), pages::say_on_a_page))
        .layer(from_fn_with_state(app.clone(), pages::live::answer_with_changes))
}

async fn method_not_allowed() -> Response {
    Problem::method_not_allowed().into_response()
}

/// The description of the API, generated from the code.
pub fn openapi_json() -> String {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let mut description = openapi::Api::openapi();
        description.merge(open_api().into_openapi());
        description.merge(api().into_openapi());
        openapi::to_text(&description)
    });
    TEXT.clone()
}
