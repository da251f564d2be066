//! Changes of all agents of a group.

use model::AgentId;
use store::{AgentFilter, PageRequest};
use tokio::task::JoinSet;

use crate::{Command, Commands, ControlError};

/// How many agents are read at a time.
const PAGE: u32 = 500;

/// How many agents are changed in one turn.
const PER_TURN: usize = 20;

impl Commands {
    /// Activates the agents of a group, except for those of another group that is stopped.
    pub(super) async fn activate_members(&self, name: &str) -> Result<Vec<AgentId>, ControlError> {
        let mut agents = self.state().members(name).await?;
        agents.retain(|agent| self.state().store.groups().stopped(agent).is_none());
        self.for_each(&agents, |command, agent| async move { command.activate(&agent).await }).await?;
        Ok(agents)
    }

    /// Deactivates the agents of a group.
    pub(super) async fn deactivate_members(&self, name: &str) -> Result<Vec<AgentId>, ControlError> {
        let agents = self.state().members(name).await?;
        agents.iter().for_each(|agent| self.state().deactivate_in_memory(agent));
        self.for_each(&agents, |command, agent| async move { command.deactivate(&agent).await }).await?;
        Ok(agents)
    }

    /// Makes a change of each agent, several in one turn: under load each turn waits until the
    /// writer has written the events that came before it.
    async fn for_each<F>(
        &self,
        agents: &[AgentId],
        change: impl Fn(Command, AgentId) -> F + Copy + Send + 'static,
    ) -> Result<(), ControlError>
    where
        F: Future<Output = Result<(), ControlError>> + Send + 'static,
    {
        for agents in agents.chunks(PER_TURN) {
            let (commands, agents) = (self.clone(), agents.to_vec());
            let turn = move |_| async move {
                let changes: JoinSet<_> = agents.into_iter().map(|agent| change(commands.command(), agent)).collect();
                // Waits for all, also after an error: none may end between the disk and memory.
                changes.join_all().await.into_iter().collect::<Result<(), ControlError>>()
            };
            self.exclusive(turn).await?;
        }
        Ok(())
    }
}

impl crate::State {
    /// The known agents of a group.
    async fn members(&self, name: &str) -> Result<Vec<AgentId>, ControlError> {
        let group = self.known_group(name)?;
        // The first call of an agent is in memory before it is on disk.
        self.catch_up().await;
        let (mut members, mut cursor) = (Vec::new(), None);
        loop {
            let page = self.store.agents(&AgentFilter::default(), &PageRequest { limit: PAGE, cursor }).await?;
            members.extend(page.items.into_iter().map(|row| row.id).filter(|agent| group.includes(agent)));
            match page.next {
                Some(next) => cursor = Some(next),
                None => return Ok(members),
            }
        }
    }
}
