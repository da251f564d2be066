//! The actions of a person on several agents at once: switch on, switch off, activate.

use axum::extract::State;
use control::Commands;
use model::{AgentId, KillSwitchChange, Role};

use crate::app::App;
use crate::gate::{ByCaller, Caller, local_path};
use crate::input::Fields;
use crate::pages::words::problem::takes;
use crate::pages::{PageResult, see_other};
use crate::problem::Problem;

/// The fields of the form: `agent` for each selected agent, `do`, `reason`, and `next` for the page
/// to return to.
struct Selected {
    agents: Vec<AgentId>,
    action: Action,
    reason: Option<String>,
    next: String,
}

/// The action for each of the agents.
#[derive(Clone, Copy)]
enum Action {
    SwitchOn,
    SwitchOff,
    Activate,
}

impl Action {
    fn parse(word: &str) -> Option<Action> {
        match word {
            "on" => Some(Action::SwitchOn),
            "off" => Some(Action::SwitchOff),
            "activate" => Some(Action::Activate),
            _ => None,
        }
    }

    /// The role that it needs.
    fn needs(self) -> Role {
        match self {
            Action::SwitchOn | Action::SwitchOff => Role::Admin,
            Action::Activate => Role::Operator,
        }
    }

    /// The word by which the next page reports it.
    fn done(self) -> &'static str {
        match self {
            Action::SwitchOn => "all-on",
            Action::SwitchOff => "all-off",
            Action::Activate => "all-activated",
        }
    }

    async fn apply(self, app: &App, commands: &Commands, agent: AgentId) -> Result<(), Problem> {
        // Configuring would create an unknown agent, but a list only has known agents.
        app.control().require_agent(&agent).await?;
        let switch = |enabled| KillSwitchChange { enabled: Some(enabled), ..KillSwitchChange::default() };
        match self {
            Action::SwitchOn => commands.configure(agent, switch(true)).await?,
            Action::SwitchOff => commands.configure(agent, switch(false)).await?,
            Action::Activate => commands.activate(agent).await?,
        }
        Ok(())
    }
}

impl Selected {
    fn read(fields: Vec<(String, String)>) -> Result<Selected, Problem> {
        let (mut agents, mut action, mut reason, mut next) = (Vec::new(), None, None, "/agents".to_owned());
        for (name, value) in fields {
            match name.as_str() {
                "agent" => agents.push(AgentId::parse(&value).map_err(|_| Problem::field("agent", takes::AGENT))?),
                "do" => action = Action::parse(&value),
                "reason" => reason = Some(value),
                "next" => next = local_path(&value).to_owned(),
                _ => {}
            }
        }
        let action = action.ok_or_else(|| Problem::field("do", takes::SELECTED))?;
        Ok(Selected { agents, action, reason, next })
    }
}

/// Applies the action to each agent. After a failure it goes on with the next agent, and shows the
/// problem.
pub(crate) async fn submit(
    State(app): State<App>,
    Caller(actor): Caller,
    ByCaller(commands): ByCaller,
    Fields(fields): Fields<Vec<(String, String)>>,
) -> PageResult {
    let Selected { agents, action, reason, next } = Selected::read(fields)?;
    let commands = commands.because(reason)?;
    if !actor.may(action.needs()) {
        return Err(Problem::role_needed(action.needs(), actor.role));
    }
    let done = if agents.is_empty() { "none-selected" } else { action.done() };
    let mut problem = None;
    for agent in agents {
        problem = action.apply(&app, &commands, agent).await.err().or(problem);
    }
    match problem {
        Some(problem) => Err(problem),
        None => Ok(see_other(&format!("{next}{}done={done}", if next.contains('?') { '&' } else { '?' }))),
    }
}
