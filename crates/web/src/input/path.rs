//! Variables of paths.

use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use model::{AgentId, AgentKeyId, CallId, ChannelId, DeliveryId, ExemptionId, IncidentId, RuleId};
use uuid::Uuid;

use crate::problem::Problem;

/// The agent in the path.
pub(crate) struct AgentPath(pub(crate) AgentId);
/// The event in the path.
pub(crate) struct EventPath(pub(crate) CallId);
/// The incident in the path.
pub(crate) struct IncidentPath(pub(crate) IncidentId);
/// The channel in the path.
pub(crate) struct ChannelPath(pub(crate) ChannelId);
/// The alert rule in the path.
pub(crate) struct RulePath(pub(crate) RuleId);
/// The alert to a channel in the path.
pub(crate) struct DeliveryPath(pub(crate) DeliveryId);
/// The agent and its exemption in the path.
pub(crate) struct ExemptionPath(pub(crate) AgentId, pub(crate) ExemptionId);
/// The agent key in the path.
pub(crate) struct AgentKeyPath(pub(crate) AgentKeyId);
/// The group in the path.
pub(crate) struct GroupPath(pub(crate) String);
/// The id of a user, an API token or a session in the path, as it is.
pub(crate) struct IdPath(pub(crate) String);
/// The provider in the path.
pub(crate) struct ProviderPath(pub(crate) String);

/// The one variable part of the path.
async fn segment(parts: &mut Parts) -> Result<String, Problem> {
    let path = Path::<String>::from_request_parts(parts, &()).await;
    path.map(|Path(segment)| segment).map_err(|_| not_utf_8())
}

fn not_utf_8() -> Problem {
    Problem::bad_request("The path is not valid UTF-8.")
}

fn agent(name: &str) -> Result<AgentId, Problem> {
    AgentId::parse(name).map_err(|error| Problem::field("agent_id", format!("is not valid: {error}")))
}

impl<S: Send + Sync> FromRequestParts<S> for AgentPath {
    type Rejection = Problem;
    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Problem> {
        agent(&segment(parts).await?).map(AgentPath)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for ExemptionPath {
    type Rejection = Problem;
    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Problem> {
        let path = Path::<(String, String)>::from_request_parts(parts, &()).await;
        let Path((name, id)) = path.map_err(|_| not_utf_8())?;
        let exemption = ExemptionId::parse(&id);
        let exemption = exemption.ok_or_else(|| Problem::not_found(format!("There is no exemption {id}.")))?;
        Ok(ExemptionPath(agent(&name)?, exemption))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for EventPath {
    type Rejection = Problem;
    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Problem> {
        let id = segment(parts).await?;
        let uuid = Uuid::parse_str(&id).map_err(|_| Problem::not_found(format!("There is no event {id}.")))?;
        Ok(EventPath(CallId(uuid)))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for IncidentPath {
    type Rejection = Problem;
    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Problem> {
        let id = segment(parts).await?;
        let uuid = Uuid::parse_str(&id).map_err(|_| Problem::not_found(format!("There is no incident {id}.")))?;
        Ok(IncidentPath(IncidentId(uuid)))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for ProviderPath {
    type Rejection = Problem;
    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Problem> {
        segment(parts).await.map(ProviderPath)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for AgentKeyPath {
    type Rejection = Problem;
    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Problem> {
        let id = segment(parts).await?;
        // The text is not repeated: it may be a key in the place of its id.
        AgentKeyId::parse(&id)
            .map(AgentKeyPath)
            .ok_or_else(|| Problem::not_found("There is no agent key with this id."))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for GroupPath {
    type Rejection = Problem;
    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Problem> {
        segment(parts).await.map(GroupPath)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for IdPath {
    type Rejection = Problem;
    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Problem> {
        segment(parts).await.map(IdPath)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for ChannelPath {
    type Rejection = Problem;
    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Problem> {
        let id = segment(parts).await?;
        ChannelId::parse(&id).map(ChannelPath).ok_or_else(|| Problem::not_found(format!("There is no channel {id}.")))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for RulePath {
    type Rejection = Problem;
    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Problem> {
        let id = segment(parts).await?;
        RuleId::parse(&id).map(RulePath).ok_or_else(|| Problem::not_found(format!("There is no rule {id}.")))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for DeliveryPath {
    type Rejection = Problem;
    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Problem> {
        let id = segment(parts).await?;
        DeliveryId::parse(&id).map(DeliveryPath).ok_or_else(|| Problem::not_found(format!("There is no alert {id}.")))
    }
}
