"""The processes in which the clients run: one for each set of packages."""

import json
import os
import subprocess
import threading

# What a client may take for one task, its own waits between retries included.
TIMEOUT_SECONDS = 300

# Settings of the machine must not point a client elsewhere, and no client may report about us.
ENVIRONMENT = {
    name: value
    for name, value in os.environ.items()
    if not name.startswith(("OPENAI_", "ANTHROPIC_", "GOOGLE_", "GEMINI_", "OLLAMA_", "LANGCHAIN_", "LANGSMITH_"))
} | {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LANGSMITH_TRACING": "false", "NO_PROXY": "127.0.0.1"}


class Failed(Exception):
    """The exception that a user of a client would see."""

    def __init__(self, type: str, message: str):
        super().__init__(f"{type}: {message}")
        self.type, self.message = type, message


class Driver:
    """A process that runs clients."""

    def __init__(self, name: str, command: list[str], variables: dict[str, str] | None = None):
        self.name, self.clients = name, None
        pipe, environment = subprocess.PIPE, ENVIRONMENT | (variables or {})
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment)

    def run(self, client: str, base: str, do: str, task: dict):
        """What `client` makes of a task."""
        if self.clients is None:
            self.clients = self.read()["clients"]
        assert client in self.clients, f"the driver {self.name} has no client {client}"
        command = {"client": client, "base": base, "do": do, "task": task}
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        reply = self.read()
        if "error" in reply:
            raise Failed(**reply["error"])
        return reply["value"]

    def read(self) -> dict:
        # A client that hangs fails its own test and does not hold up the others.
        watchdog = threading.Timer(TIMEOUT_SECONDS, self.process.kill)
        watchdog.start()
        line = self.process.stdout.readline()
        watchdog.cancel()
        assert line, f"the driver {self.name} ended; what it said is above"
        return json.loads(line)

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()
