"""A real server, the built-in provider behind it and the drivers of the clients, all as processes."""

import itertools

import pytest
from agent_runs import OUTCOMES
from drivers import Driver
from recordings import Recordings
from server import running_server
from table import DRIVERS


def pytest_addoption(parser):
    parser.addoption("--record", metavar="DIR", help="write what each client sent into this folder")
    parser.addoption("--all", action="store_true", help="run every agent in every scenario")


def pytest_terminal_summary(terminalreporter):
    """What docs/clients.md says about agents comes from here."""
    for line in OUTCOMES:
        terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    with running_server(tmp_path_factory.mktemp("agentgazer")) as server:
        yield server


@pytest.fixture(scope="session")
def drivers():
    # All at once: they take their time to import their packages.
    drivers = {name: Driver(name, command) for name, command in DRIVERS.items()}
    yield drivers
    for driver in drivers.values():
        driver.close()


@pytest.fixture(scope="session")
def recordings(request, server):
    recordings = Recordings(server, request.config.getoption("--record"))
    yield recordings
    recordings.write()


AGENT_NUMBERS = itertools.count(1)


@pytest.fixture
def agent(server):
    """An agent with its kill switch on."""
    # With dashes between its digits: a name that holds those of a retryable status is left out of messages.
    name = "client-" + "-".join(str(next(AGENT_NUMBERS)))
    server.api("PUT", f"/api/agents/{name}/kill-switch", {"enabled": True})
    return name
