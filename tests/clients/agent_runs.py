"""One run of a coding agent through a real server: a home and a folder of its own, and what came of it."""

import dataclasses
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile

from agent_client import INSTALLED, AgentClient, Place
from scenarios import Scenario, make_workspace

# What a client may take for one run, its own waits between retries included.
TIMEOUT_SECONDS = 240

# Outside of this repository: clients read the instructions and the history of the one around them. And not below /tmp,
# where Codex does not write its helper programs.
RUNS = tempfile.TemporaryDirectory(prefix="agentgazer-clients-", dir="/var/tmp", ignore_cleanup_errors=True)

# One line for each run.
OUTCOMES: list[str] = []

COLOURS = re.compile(r"\x1b\[[0-9;]*m")


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What came of one run."""

    #: The steps of the script that were not reached.
    left: int
    #: Calls that were answered, and the ones that were refused, the stopped one included.
    answered: int
    refused: int
    exit_code: int
    output: str


class AgentRun:
    """A coding agent with an agent of its own on the server."""

    def __init__(self, server, client: AgentClient, agent: str):
        self.server, self.client, self.agent = server, client, agent
        folder = pathlib.Path(RUNS.name, agent)
        self.place = Place(folder / "home", folder / "work", f"{server.proxy}/agents/{agent}")
        for path in (self.place.home, self.place.work):
            path.mkdir(parents=True)
        make_workspace(self.place.work)
        self.environment = self.minimal_environment() | client.configure(self.place)

    def minimal_environment(self) -> dict[str, str]:
        """Nothing of the machine's settings but where programs are."""
        node = INSTALLED / "sdks/bin"
        return {
            "HOME": str(self.place.home),
            "LANG": "C.UTF-8",
            "NO_COLOR": "1",
            "PATH": f"{node}:{os.environ['PATH']}",
            "TERM": "dumb",
        }

    def start(self, scenario: Scenario) -> Outcome:
        return self.run(scenario, self.client.start(scenario.prompt))

    def resume(self, scenario: Scenario) -> Outcome:
        return self.run(scenario, self.client.resume(scenario.prompt))

    def run(self, scenario: Scenario, arguments: list[str]) -> Outcome:
        before = self.counts()
        self.server.script(self.client.steps(scenario, self.place))
        typed = "".join(f"{line}\n" for line in self.client.typed.get(scenario.name, []))
        exit_code, output = self.execute(self.client.command(arguments), typed)
        after = self.counts()
        answered, refused = (now - then for now, then in zip(after, before, strict=True))
        outcome = Outcome(self.server.script_progress()["left"], answered, refused, exit_code, output)
        OUTCOMES.append(
            f"{self.agent}, {scenario.name}: {answered} answered, {refused} refused, {outcome.left} steps left, "
            f"exit code {exit_code}"
        )
        return outcome

    def execute(self, command: list[str], typed: str) -> tuple[int, str]:
        log = self.place.home.parent / "output.txt"
        lines = log.with_name("typed.txt")
        lines.write_text(typed)
        with log.open("ab") as output, lines.open() as keyboard:
            begin = output.tell()
            process = subprocess.Popen(
                command,
                cwd=self.place.work,
                env=self.environment,
                stdin=keyboard,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                process.wait(TIMEOUT_SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        said = log.read_bytes()[begin:].decode(errors="replace")
        return process.returncode, COLOURS.sub("", said)

    def counts(self) -> tuple[int, int]:
        """How many calls were answered and how many refused so far."""
        events = self.server.events(self.agent)
        answered = sum(event["details"]["count"] for event in events if event["event_type"] == "llm_call")
        refused = ("blocked", "kill_switch")
        return answered, sum(event["details"]["count"] for event in events if event["event_type"] in refused)

    def save(self, folder: pathlib.Path, scenario: Scenario) -> None:
        """Writes the calls of this run as `replay` reads them."""
        calls = [call | {"format": self.client.format} for call in self.server.script_progress()["calls"]]
        name = f"{self.client.name}-{scenario.name}"
        run = {"id": name, **scenario.label, "calls": calls}
        (folder / f"{name}.jsonl").write_text(json.dumps(run) + "\n")
