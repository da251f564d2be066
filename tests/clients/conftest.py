"""A real server and the built-in provider, as processes; each test gets an agent of its own."""

import itertools
import json
import os
import pathlib
import subprocess
import time
import urllib.error
import urllib.request

import httpx2 as httpx
import pytest

BINARY = os.environ["AGENTGAZER_BIN"]
TOKEN = "clients-test-token"

# The program takes every AGENTGAZER_… variable for a setting and refuses to start on one that is none.
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("AGENTGAZER_")}


def wait_for_file(path: pathlib.Path, process: subprocess.Popen) -> dict:
    """What `process` wrote to its ready file, once it has."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        assert process.poll() is None, f"{process.args[1]} ended with {process.returncode}"
        if path.exists():
            return json.loads(path.read_text())
        time.sleep(0.02)
    raise TimeoutError(f"{path.name} was not written")


class Server:
    """The addresses of a running server and of the provider behind it."""

    def __init__(self, proxy: str, dashboard: str, provider: str):
        self.proxy, self.dashboard, self.provider = proxy, dashboard, provider

    def api(self, method: str, path: str, body: dict | None = None) -> dict:
        """Calls the server's own API."""
        request = urllib.request.Request(
            self.dashboard + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"authorization": f"Bearer {TOKEN}", "content-type": "application/json"},
        )
        with urllib.request.urlopen(request) as response:
            body = response.read()
            return json.loads(body) if body else {}

    def event(self, request_id: str) -> dict:
        """The event of one call, once the recorder has written it."""
        deadline = time.monotonic() + 10
        while True:
            try:
                return self.api("GET", f"/api/events/{request_id}")
            except urllib.error.HTTPError as error:
                if error.code != 404 or time.monotonic() > deadline:
                    raise
                time.sleep(0.02)

    def seen(self) -> int:
        """How many requests the provider has seen."""
        with urllib.request.urlopen(self.provider + "/_seen") as response:
            return json.load(response)["requests"]


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("agentgazer")
    provider_ready, server_ready = folder / "provider.json", folder / "server.json"
    processes = []
    try:
        command = [BINARY, "provider", "--port", "0", "--ready-file", provider_ready]
        processes.append(subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.DEVNULL))
        provider = wait_for_file(provider_ready, processes[-1])["provider"]
        command = [BINARY, "start", "--port", "0", "--proxy-port", "0", "--token", TOKEN, "--allow-private-targets"]
        command += ["--data-dir", folder / "data", "--ready-file", server_ready]
        command += ["--provider", f"openai={provider}", "--provider", f"anthropic={provider}"]
        processes.append(subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.DEVNULL))
        ready = wait_for_file(server_ready, processes[-1])
        yield Server(ready["proxy"], ready["dashboard"], provider)
    finally:
        for process in reversed(processes):
            process.terminate()
        for process in reversed(processes):
            assert process.wait(timeout=60) == 0, f"{process.args[1]} did not end well"


AGENT_NUMBERS = itertools.count(1)


@pytest.fixture
def agent(server):
    """An agent with its kill switch on."""
    name = f"client-{next(AGENT_NUMBERS)}"
    server.api("PUT", f"/api/agents/{name}/kill-switch", {"enabled": True})
    return name


class CountingTransport(httpx.BaseTransport):
    """Counts what an SDK really sends, retries included."""

    def __init__(self):
        self.requests = 0
        self.inner = httpx.HTTPTransport()

    def handle_request(self, request):
        self.requests += 1
        return self.inner.handle_request(request)

    def close(self):
        self.inner.close()


class AsyncCountingTransport(httpx.AsyncBaseTransport):
    """The same for the asynchronous clients."""

    def __init__(self):
        self.requests = 0
        self.inner = httpx.AsyncHTTPTransport()

    async def handle_async_request(self, request):
        self.requests += 1
        return await self.inner.handle_async_request(request)

    async def aclose(self):
        await self.inner.aclose()


@pytest.fixture
def transport():
    return CountingTransport()
