"""Agents with tools of their own: they work as long as they make progress, and a loop of theirs is stopped once."""

import pytest
from agent_runs import AgentRun
from agent_table import AGENTS
from scenarios import EDIT_TEST, HEALTHY, POLLING, STUCK
from server import running_server


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server of its own: the script of its provider would answer the other tests too."""
    with running_server(tmp_path_factory.mktemp("agents")) as server:
        yield server


@pytest.fixture
def run(request, server, client, scenario):
    if scenario.name not in client.fast and not request.config.getoption("--all"):
        pytest.skip("runs with --all")
    if scenario.name in client.cannot:
        pytest.skip(f"{client.name} cannot do this: {client.cannot[scenario.name]}")
    agent = f"{client.name}-{scenario.name}"
    server.api("PUT", f"/api/agents/{agent}/kill-switch", {"enabled": True})
    return AgentRun(server, client, agent)


def every_agent(*scenarios):
    """Each agent with each of these scenarios."""
    pairs = [(client, scenario) for client in AGENTS for scenario in scenarios]
    names = [f"{client.name}-{scenario.name}" for client, scenario in pairs]
    return pytest.mark.parametrize(("client", "scenario"), pairs, ids=names)


def assert_finished(outcome) -> None:
    assert outcome.refused == 0, f"stopped at call {outcome.answered + 1}\n{outcome.output[-2000:]}"
    assert outcome.left == 0, f"ended {outcome.left} steps too early\n{outcome.output[-2000:]}"


@every_agent(HEALTHY, EDIT_TEST, POLLING)
def test_agent_that_makes_progress_finishes(run, scenario):
    assert_finished(run.start(scenario))


@every_agent(STUCK)
def test_stuck_agent_is_stopped_and_goes_on_after_activation(run, server, client, scenario):
    outcome = run.start(scenario)
    assert outcome.refused, f"never stopped in {outcome.answered} calls"
    said = " ".join(outcome.output.split())
    assert "deactivated by the AgentGazer kill switch" in said, outcome.output[-2000:]
    typed = client.typed.get(scenario.name, [])
    # A person may go on typing, which is one request for each line.
    assert outcome.refused - 1 == client.requests_after_stop or outcome.refused < len(typed), outcome.output[-2000:]

    server.api("PATCH", f"/api/agents/{run.agent}", {"active": True})
    assert_finished(run.resume(HEALTHY))
