//! Labels of an agent, by which groups may name it.

use axum::Json;
use axum::extract::State;
use model::Label;
use serde::Deserialize;
use utoipa::ToSchema;

use super::AgentView;
use crate::api::schemas;
use crate::app::App;
use crate::gate::ByCaller;
use crate::input::{AgentPath, Body};
use crate::problem::{BodyRefusals, Problem, Refusals};

/// All labels of an agent.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = AgentLabels)]
pub(crate) struct LabelsBody {
    /// Such as `production` or `team=billing`; `[]` removes all labels.
    #[schema(schema_with = schemas::labels)]
    labels: Vec<String>,
}

/// Replaces the labels of an agent. From the next call on, it is in every group that names one of
/// them.
#[utoipa::path(put, path = "/api/agents/{id}/labels", tag = "agents", operation_id = "put_agent_labels",
    params(("id" = String, Path, description = "The agent")), request_body = LabelsBody,
    responses((status = 200, body = AgentView), Refusals, BodyRefusals))]
pub(crate) async fn put(
    State(app): State<App>,
    ByCaller(commands): ByCaller,
    AgentPath(agent): AgentPath,
    Body(LabelsBody { labels }): Body<LabelsBody>,
) -> Result<Json<AgentView>, Problem> {
    commands.set_labels(agent.clone(), parse_labels(labels)?).await?;
    super::read(&app, agent).await.map(Json)
}

/// Reads labels, or names the invalid one.
pub(crate) fn parse_labels(labels: Vec<String>) -> Result<Vec<Label>, Problem> {
    let parse = |(position, text): (usize, String)| {
        Label::parse(&text).map_err(|error| Problem::field(format!("labels[{position}]"), error.to_string()))
    };
    labels.into_iter().enumerate().map(parse).collect()
}
