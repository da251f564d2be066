"""The official SDKs over TLS with agent keys, told of the authority as their users would: by a variable of the environment."""

import os
import subprocess

import pytest
from drivers import Driver, Failed
from server import BINARY, ENVIRONMENT, running_server
from table import DRIVERS
from test_matrix import MODEL, QUESTION

#: How each driver is told which authority to trust.
VARIABLES = {"python": "SSL_CERT_FILE", "javascript": "NODE_EXTRA_CA_CERTS"}

#: What the providers must get in the place of an agent key.
STORED = "sk-stored-for-the-test"

clients = pytest.mark.parametrize("driver", VARIABLES)
sdks = pytest.mark.parametrize("client", ["openai-chat", "anthropic", "google-genai"])


@pytest.fixture(scope="module")
def tls_server(tmp_path_factory):
    """A server with certificates of `agentgazer tls dev`, and the file of their authority."""
    folder = tmp_path_factory.mktemp("tls")
    made = [BINARY, "tls", "dev", "--out", folder / "certificates"]
    subprocess.run(made, check=True, env=ENVIRONMENT, stdout=subprocess.DEVNULL)
    certificate, key = (folder / "certificates" / name for name in ("certificate.pem", "key.pem"))
    settings = (f"tls.certificate={certificate}", f"tls.key={key}", "kill_switch.enabled=true", "proxy.require_key=always")
    with running_server(folder, settings) as server, pytest.MonkeyPatch.context() as patch:
        # Our own calls of the API, too, have to trust the authority.
        patch.setitem(os.environ, "SSL_CERT_FILE", str(folder / "certificates/ca.pem"))
        yield server, folder / "certificates/ca.pem"


@pytest.fixture(scope="module")
def agent_key(tls_server):
    """A key for all agents, and stored keys of the providers in its place."""
    server, _ = tls_server
    for name in ("openai", "anthropic", "google"):
        server.api("PUT", f"/api/providers/{name}", {"key": STORED})
    return server.api("POST", "/api/agent-keys", {"agent": "*"})["key"]


@pytest.fixture(scope="module")
def trusting(tls_server, agent_key):
    """The drivers, each in a process that trusts the authority and has the agent key."""
    drivers = {
        name: Driver(name, DRIVERS[name], {variable: str(tls_server[1]), "CLIENT_KEY": agent_key})
        for name, variable in VARIABLES.items()
    }
    yield drivers
    for driver in drivers.values():
        driver.close()


def ask(driver: Driver, client: str, server, agent: str, stream: bool):
    task = {"model": MODEL, "question": QUESTION, "stream": stream, "timeout": None, "tool": None, "result": None}
    return driver.run(client, f"{server.proxy}/agents/{agent}", "ask", task)


@clients
@sdks
def test_an_sdk_calls_over_tls(tls_server, trusting, agent_key, driver, client):
    server, _ = tls_server
    assert server.proxy.startswith("https://")
    agent = f"{driver}-{client}"
    for stream in [False, True, False, True, False]:
        assert "everything is in order" in "".join(ask(trusting[driver], client, server, agent, stream))
    seen, last = server.seen_by_provider(), str(server.last_request())
    assert STORED in last and agent_key not in last, "the provider gets its own key"
    with pytest.raises(Failed) as failed:
        ask(trusting[driver], client, server, agent, False)
    assert "deactivated" in failed.value.message, failed.value
    assert server.seen_by_provider() == seen


@clients
@sdks
def test_an_sdk_with_a_key_that_was_revoked_is_refused(tls_server, trusting, driver, client):
    server, _ = tls_server
    made = server.api("POST", "/api/agent-keys", {"agent": "*"})
    server.api("DELETE", f"/api/agent-keys/{made['id']}")
    seen = server.seen_by_provider()
    variables = {VARIABLES[driver]: str(tls_server[1]), "CLIENT_KEY": made["key"]}
    revoked = Driver(driver, DRIVERS[driver], variables)
    try:
        with pytest.raises(Failed) as failed:
            ask(revoked, client, server, "revoked", False)
        assert "401" in failed.value.message or "key" in failed.value.message, failed.value
    finally:
        revoked.close()
    assert server.seen_by_provider() == seen


@clients
def test_an_sdk_that_does_not_know_the_authority_refuses(tls_server, drivers, driver):
    server, _ = tls_server
    seen = server.seen_by_provider()
    with pytest.raises(Failed):
        ask(drivers[driver], "openai-chat", server, "untrusting", False)
    assert server.seen_by_provider() == seen
