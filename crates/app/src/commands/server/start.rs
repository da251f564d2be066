//! `start`: runs the server until a signal stops it.

use crate::allocator;
use crate::cli::SettingArgs;
use crate::config;
use crate::config::Config;
use crate::exit::Failure;
use crate::listen::InheritedSockets;
use crate::log;
use crate::print::{self, BOLD, DIM, RESET};
use crate::runtime::on_all_cores;
use crate::server::Server;
use crate::signals::Signals;

/// `start`.
pub fn start(args: &SettingArgs) -> Result<(), Failure> {
    let config = config::load_for_server(args.config.clone(), args.entries())?;
    log::start(&config.log);
    for variable in &config.ignored_variables {
        tracing::warn!("{variable} is no setting and is ignored");
    }
    let sockets = InheritedSockets::from_environment()?;
    on_all_cores(Box::pin(serve(&config, sockets)))
}

async fn serve(config: &Config, sockets: InheritedSockets) -> Result<(), Failure> {
    let mut signals = Signals::listen()?;
    let server = Server::start_on(config, sockets).await?;
    let database = config.postgres()?.map(|server| server.address());
    print::line(&banner(&server, config, database.as_deref()))?;
    if server.lacks_agent_keys() {
        tracing::warn!("calls need an agent key, and there is none: make one with `agentgazer keys create AGENT`");
    }
    tokio::spawn(allocator::return_unused_memory());
    let signal = signals.next().await;
    tracing::info!(?signal, "stopping: calls in flight may finish, a second signal ends them");
    signals.exit_at_once();
    Ok(server.stop(config.drain).await?)
}

fn banner(server: &Server, config: &Config, database: Option<&str>) -> String {
    let data = config.data_dir.display().to_string();
    let data = database.map_or(data.clone(), |database| format!("{database}, files in {data}"));
    let kill_switch = match server.kills_new_agents() {
        true => "on for new agents",
        false => "off for new agents: agentgazer kill-switch my-agent on",
    };
    let (proxy, dashboard) = (server.proxy_url(), server.dashboard_url());
    let login = match &config.token {
        None => server.login_link("/"),
        // The person who set it knows it, and many may read the output of a service.
        Some(_) => format!("{dashboard}/login with the configured token"),
    };
    format!(
        "{BOLD}AgentGazer{RESET} {version}\n\
         \x20 proxy        {proxy}\n\
         \x20 dashboard    {dashboard}\n\
         \x20 log in       {login}\n\
         \x20 clients      {DIM}OPENAI_BASE_URL={proxy}/agents/my-agent/openai/v1{RESET}\n\
         \x20              {DIM}ANTHROPIC_BASE_URL={proxy}/agents/my-agent/anthropic{RESET}\n\
         \x20 kill switch  {DIM}{kill_switch}{RESET}\n\
         \x20 data         {DIM}{data}{RESET}",
        version = env!("CARGO_PKG_VERSION"),
    )
}
