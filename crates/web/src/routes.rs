//! All routes of the listener, and what stands before them.

use std::sync::LazyLock;

use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::{agents, events, evidence, export, health, incidents, kill_switch, openapi, providers, stats, stream};
use crate::app::App;
use crate::problem::Problem;
use crate::{Web, gate, pages};

/// All routes.
pub fn router(web: Web) -> Router {
    let app = App::new(web);
    let known_callers = from_fn_with_state(app.clone(), gate::only_known_callers);

    let guarded = Router::from(api()).merge(guarded_pages()).method_not_allowed_fallback(method_not_allowed);
    let guarded = guarded.fallback(pages::not_found).layer(known_callers);
    let open = Router::from(open_api()).merge(open_pages()).method_not_allowed_fallback(method_not_allowed);

    // The last layer is the first that a request meets.
    open.merge(guarded)
        .layer(from_fn(gate::refuse_other_sites))
        .layer(from_fn_with_state(app.clone(), gate::only_our_hosts))
        .layer(from_fn(gate::answer_safely))
        .with_state(app)
}

/// Open to all.
fn open_api() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(health::live)).routes(routes!(health::ready))
}

/// For those who know the token or have a session.
fn api() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(agents::list))
        .routes(routes!(agents::get, agents::patch, agents::delete))
        .routes(routes!(kill_switch::get, kill_switch::put))
        .routes(routes!(events::list))
        .routes(routes!(export::get))
        .routes(routes!(events::get))
        .routes(routes!(incidents::list))
        .routes(routes!(incidents::get, incidents::delete))
        .routes(routes!(evidence::get))
        .routes(routes!(incidents::feedback))
        .routes(routes!(providers::list))
        .routes(routes!(providers::get, providers::put, providers::delete))
        .routes(routes!(stats::overview))
        .routes(routes!(stats::agent))
        .routes(routes!(stream::get))
        .routes(routes!(openapi::get))
}

/// Pages and their parts, open to all.
fn open_pages() -> Router<App> {
    Router::new()
        .route("/login", get(pages::login::form).post(pages::login::submit))
        .route("/static/style.css", get(pages::assets::style))
        .route("/static/live.js", get(pages::assets::live))
        .route("/static/login.js", get(pages::assets::login))
}

/// Pages for those who have a session.
fn guarded_pages() -> Router<App> {
    Router::new()
        .route("/", get(pages::overview::show))
        .route("/incidents/{id}", get(pages::incident::show))
        .route("/logout", post(pages::login::logout))
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
        description.to_pretty_json().unwrap_or_default()
    });
    TEXT.clone()
}
