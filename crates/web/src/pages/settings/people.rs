//! The page of users, API tokens and open sessions, and the forms to change them.

use askama::Template;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use control::{NewToken, NewUser, UserChange};
use model::{Grant, Role, Timestamp};
use secrecy::ExposeSecret;
use serde::Deserialize;

use crate::api::people::sessions::{self, SessionView};
use crate::api::people::tokens::TokenView;
use crate::api::people::users::{self, UserView};
use crate::app::App;
use crate::gate::ByCaller;
use crate::input::{Fields, IdPath};
use crate::pages::frame::Frame;
use crate::pages::number::Moment;
use crate::pages::words::people as words;
use crate::pages::words::problem::{explanation, takes};
use crate::pages::{PageResult, assets, draw_as, see_other};
use crate::problem::Problem;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

#[derive(Template)]
#[template(path = "people.html")]
struct PeoplePage {
    frame: Frame,
    users: Vec<UserLine>,
    tokens: Vec<TokenLine>,
    sessions: Vec<SessionLine>,
    form_result: FormResult,
}

/// The result of a form, to be shown on the page.
#[derive(Default)]
struct FormResult {
    /// The form with an error, and the error.
    error: Option<(&'static str, String)>,
    /// The text of a new token.
    token: Option<String>,
    /// The submitted name.
    name: String,
}

struct UserLine {
    view: UserView,
    /// The groups that the user is limited to, separated by commas.
    groups: String,
    last_login: Option<Moment>,
}

struct TokenLine {
    view: TokenView,
    /// The groups that the token is limited to, separated by commas.
    groups: String,
    created: Moment,
    last_used: Option<Moment>,
    expires: String,
    is_expired: bool,
}

struct SessionLine {
    view: SessionView,
    who: String,
    opened: Option<Moment>,
}

/// The fields of the form for a new user.
#[derive(Deserialize)]
pub(crate) struct UserForm {
    name: String,
    role: Role,
    #[serde(default)]
    groups: String,
    password: String,
}

/// The fields of a user's form. An empty password keeps the current one.
#[derive(Deserialize)]
pub(crate) struct UserChangeForm {
    role: Role,
    #[serde(default)]
    groups: String,
    password: String,
}

/// The fields of the form for a new token.
#[derive(Deserialize)]
pub(crate) struct TokenForm {
    name: String,
    role: Role,
    #[serde(default)]
    groups: String,
    /// The last day on which it is valid, in UTC; empty for no end.
    until: String,
}

/// Draws the page.
pub(crate) async fn show(State(app): State<App>, frame: Frame, headers: HeaderMap) -> PageResult {
    draw_with(&app, frame, &headers, FormResult::default()).await
}

async fn draw_with(app: &App, frame: Frame, headers: &HeaderMap, form_result: FormResult) -> PageResult {
    let now = app.web().clock.now();
    let status = if form_result.error.is_some() { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    let users = app.control().users().into_iter().map(|user| user_line(user.into(), now)).collect();
    let tokens = app.control().api_tokens().into_iter().map(|token| token_line(token.into(), now)).collect();
    let sessions = sessions::read(app, headers).await.into_iter().map(|view| session_line(view, now)).collect();
    draw_as(status, &PeoplePage { frame, users, tokens, sessions, form_result })
}

fn user_line(view: UserView, now: Timestamp) -> UserLine {
    let groups = view.groups.as_ref().map(|groups| groups.join(", ")).unwrap_or_default();
    UserLine { last_login: view.last_login_at.map(|at| Moment::new(at, now)), groups, view }
}

fn token_line(view: TokenView, now: Timestamp) -> TokenLine {
    TokenLine {
        groups: view.groups.as_ref().map(|groups| groups.join(", ")).unwrap_or_default(),
        created: Moment::new(view.created_at, now),
        last_used: view.last_used_at.map(|at| Moment::new(at, now)),
        expires: view.expires_at.map(|at| at.to_string().chars().take(10).collect()).unwrap_or_default(),
        is_expired: view.expires_at.is_some_and(|at| at <= now),
        view,
    }
}

fn session_line(view: SessionView, now: Timestamp) -> SessionLine {
    // Sessions of earlier versions have no opening time.
    let opened = (view.opened_at != Timestamp::default()).then(|| Moment::new(view.opened_at, now));
    SessionLine { who: words::holder(view.kind, &view.name), opened, view }
}

/// Adds a user.
pub(crate) async fn add_user(
    State(app): State<App>,
    ByCaller(commands): ByCaller,
    frame: Frame,
    headers: HeaderMap,
    Fields(form): Fields<UserForm>,
) -> PageResult {
    let grant = Grant { role: form.role, groups: group_names(&form.groups) };
    let new = NewUser { name: form.name.clone(), grant, password: Some(form.password.into()) };
    match commands.create_user(new).await.map_err(Problem::from) {
        Ok(_) => Ok(see_other("/settings/people?done=user-added")),
        Err(problem) => draw_with(&app, frame, &headers, wrong("user", form.name, &problem)?).await,
    }
}

/// Changes a user's role or password.
pub(crate) async fn change_user(
    State(app): State<App>,
    ByCaller(commands): ByCaller,
    IdPath(id): IdPath,
    Fields(form): Fields<UserChangeForm>,
) -> PageResult {
    let before = app.control().user(&id).map(|user| user.session_version);
    let password = (!form.password.is_empty()).then(|| form.password.into());
    let groups = Some(group_names(&form.groups));
    let change = UserChange { role: Some(form.role), groups, password, ..UserChange::default() };
    let user = commands.change_user(id, change).await?;
    if before != Some(user.session_version) {
        app.sessions.close_of_user(&user.id).await;
    }
    Ok(see_other("/settings/people?done=user-changed"))
}

/// Removes a user.
pub(crate) async fn delete_user(state: State<App>, by: ByCaller, path: IdPath) -> PageResult {
    users::delete(state, by, path).await?;
    Ok(see_other("/settings/people?done=deleted"))
}

/// Creates a token. Its text is shown on the next page and nowhere else.
pub(crate) async fn add_token(
    State(app): State<App>,
    ByCaller(commands): ByCaller,
    frame: Frame,
    headers: HeaderMap,
    Fields(form): Fields<TokenForm>,
) -> PageResult {
    let made = match end_of(&form.until) {
        Ok(expires_at) => {
            let grant = Grant { role: form.role, groups: group_names(&form.groups) };
            let new = NewToken { name: form.name.clone(), grant, expires_at };
            commands.create_token(new).await.map_err(Problem::from)
        }
        Err(problem) => Err(problem),
    };
    let form_result = match made {
        Ok(made) => FormResult { token: Some(made.text.expose_secret().to_owned()), ..FormResult::default() },
        Err(problem) => wrong("token", form.name, &problem)?,
    };
    draw_with(&app, frame, &headers, form_result).await
}

/// Revokes a token.
pub(crate) async fn revoke_token(ByCaller(commands): ByCaller, IdPath(id): IdPath) -> PageResult {
    commands.revoke_token(id).await?;
    Ok(see_other("/settings/people?done=token-revoked"))
}

/// Ends a session.
pub(crate) async fn end_session(state: State<App>, by: ByCaller, path: IdPath) -> PageResult {
    sessions::end(state, by, path).await?;
    Ok(see_other("/settings/people?done=session-ended"))
}

/// The groups that a field names, separated by commas; none if it is empty.
fn group_names(field: &str) -> Option<Vec<String>> {
    let names: Vec<String> = field.split(',').map(|name| name.trim().to_owned()).filter(|it| !it.is_empty()).collect();
    (!names.is_empty()).then_some(names)
}

/// The end of a day in UTC; an empty one never ends.
fn end_of(day: &str) -> Result<Option<Timestamp>, Problem> {
    if day.trim().is_empty() {
        return Ok(None);
    }
    let begin = Timestamp::parse(&format!("{}T00:00:00Z", day.trim()));
    let begin = begin.ok_or_else(|| Problem::field("until", takes::DAY))?;
    Ok(Some(Timestamp::from_millis(begin.as_millis() + DAY_MS)))
}

/// The error in a submitted form, to be shown on the page. Any other problem has a page of its own.
fn wrong(form: &'static str, name: String, problem: &Problem) -> Result<FormResult, Problem> {
    if !problem.status().is_client_error() {
        return Err(problem.clone());
    }
    Ok(FormResult { error: Some((form, explanation(problem))), name, ..FormResult::default() })
}
