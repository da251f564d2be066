"""A running server with the built-in provider behind it."""

import contextlib
import json
import os
import pathlib
import subprocess
import time
import urllib.request

BINARY = os.environ["AGENTGAZER_BIN"]
TOKEN = "clients-test-token"
TIMEOUT_SECONDS = 30
PROVIDERS = ["openai", "anthropic", "google", "ollama"]

# The program takes AGENTGAZER_… variables for settings.
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("AGENTGAZER_")}


class Server:
    """The addresses of a running server and of the provider behind it."""

    def __init__(self, proxy: str, dashboard: str, provider: str):
        self.proxy, self.dashboard, self.provider = proxy, dashboard, provider

    def api(self, method: str, path: str, body: dict | None = None) -> dict:
        """Calls the server's own API."""
        return call(method, self.dashboard + path, body, {"authorization": f"Bearer {TOKEN}"})

    def events(self, agent: str, at_least: int = 0) -> list[dict]:
        """The events of an agent, oldest first, once there are so many: a busy disk takes its time."""
        end = time.monotonic() + TIMEOUT_SECONDS
        while True:
            events = self.api("GET", f"/api/events?agent={agent}&limit=500")["items"][::-1]
            if sum(event["details"].get("count", 1) for event in events) >= at_least or time.monotonic() > end:
                return events
            time.sleep(0.1)

    def requests(self, agent: str, at_least: int) -> int:
        """How many requests an agent sent, refused ones included."""
        kinds = ("llm_call", "blocked", "kill_switch")
        events = self.events(agent, at_least)
        return sum(event["details"]["count"] for event in events if event["event_type"] in kinds)

    def seen_by_provider(self) -> int:
        """How many requests reached the provider."""
        return call("GET", f"{self.provider}/_seen")["requests"]

    def last_request(self) -> dict:
        """The last request that reached the provider, as it came."""
        return call("GET", f"{self.provider}/_last")

    def script(self, steps: list[dict]) -> None:
        """The provider's next answers, one for each request that offers the tool of the step."""
        call("PUT", f"{self.provider}/_steps", steps)

    def script_progress(self) -> dict:
        """How many steps are left, and the calls since the script began."""
        return call("GET", f"{self.provider}/_steps")

    def let_fail(self, faults: list) -> None:
        """The provider's next answers fail like this."""
        call("PUT", f"{self.provider}/_faults", faults)


def call(method: str, url: str, body=None, headers: dict | None = None) -> dict:
    data = None if body is None else json.dumps(body).encode()
    headers = {"content-type": "application/json"} | (headers or {})
    with urllib.request.urlopen(urllib.request.Request(url, data, headers, method=method)) as response:
        answer = response.read()
        return json.loads(answer) if answer else {}


@contextlib.contextmanager
def running_server(folder: pathlib.Path, settings: tuple[str, ...] = ()):
    with contextlib.ExitStack() as stack:
        provider = stack.enter_context(running(["provider", "--port", "0"], folder / "provider.json"))["provider"]
        command = ["start", "--port", "0", "--proxy-port", "0", "--token", TOKEN, "--data-dir", folder / "data"]
        command += ["--allow-private-targets", *(part for setting in settings for part in ("--set", setting))]
        for name in PROVIDERS:
            command += ["--provider", f"{name}={provider}"]
        ready = stack.enter_context(running(command, folder / "server.json"))
        yield Server(ready["proxy"], ready["dashboard"], provider)


@contextlib.contextmanager
def running(command: list, ready_file: pathlib.Path):
    """What a command wrote to its ready file; ended at the end, and well."""
    command = [BINARY, *command, "--ready-file", ready_file]
    process = subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.DEVNULL)
    try:
        yield wait_for_file(ready_file, process)
    finally:
        process.terminate()
        assert process.wait(timeout=60) == 0, f"{command[1]} did not end well"


def wait_for_file(path: pathlib.Path, process: subprocess.Popen) -> dict:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        assert process.poll() is None, f"{process.args[1]} ended with {process.returncode}"
        if path.exists():
            return json.loads(path.read_text())
        time.sleep(0.02)
    raise TimeoutError(f"{path.name} was not written")
