"""What the table says about each agent: how it is configured, run and resumed, and what its tools are called."""

import dataclasses
import json
import os
import pathlib
from collections.abc import Callable

from scenarios import Scenario, Tools

INSTALLED = pathlib.Path(os.environ["AGENTGAZER_CLIENTS"])
KEY = "sk-test"


@dataclasses.dataclass(frozen=True)
class Place:
    """Where one run of a client happens."""

    home: pathlib.Path
    work: pathlib.Path
    #: The proxy's address with the agent in it.
    base: str

    def configure(self, path: str, text: str | dict) -> None:
        """Writes a configuration file of the client."""
        file = self.home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text if isinstance(text, str) else json.dumps(text))


@dataclasses.dataclass(frozen=True, kw_only=True)
class AgentClient:
    """A client that runs as a command in a folder and calls tools there."""

    name: str
    #: The format of its calls as `replay` names it.
    format: str
    #: Its program, below the installed packages.
    program: str
    #: The arguments of a run with a prompt.
    start: Callable[[str], list[str]]
    #: The arguments that go on with the last run, or begin it again.
    resume: Callable[[str], list[str]]
    #: Writes its configuration and returns its environment.
    configure: Callable[[Place], dict[str, str]]
    tools: Callable[[Place], Tools]
    #: What is typed, line by line, in each scenario, for a client that does not work on its own.
    typed: dict[str, list[str]] = dataclasses.field(default_factory=dict)
    #: Scripts of its own, by scenario.
    scripts: dict[str, Callable[[Tools], list[dict]]] = dataclasses.field(default_factory=dict)
    #: Scenarios that it cannot run, and why.
    cannot: dict[str, str] = dataclasses.field(default_factory=dict)
    #: Requests that it sends by itself after the one that is stopped.
    requests_after_stop: int = 0
    #: The scenarios that run in CI.
    fast: frozenset[str] = frozenset()

    def command(self, arguments: list[str]) -> list[str]:
        programs = sorted(INSTALLED.glob(self.program))
        assert programs, f"{self.name} is not installed: {self.program}"
        return [str(programs[0]), *arguments]

    def steps(self, scenario: Scenario, place: Place) -> list[dict]:
        """The tool calls that the provider is to answer with."""
        tools = self.tools(place)
        return self.scripts.get(scenario.name, scenario.steps)(tools) + tools.finish()


@dataclasses.dataclass(frozen=True)
class NamedTools(Tools):
    """Tools that take objects; each template is a name and the names of its arguments."""

    folder: pathlib.Path
    shell: tuple[str, str]
    reader: tuple[str, str]
    writer: tuple[str, str, str]
    editor: tuple[str, str, str, str]
    #: What some calls want besides, by the name of the tool.
    besides: dict = dataclasses.field(default_factory=dict)

    def step(self, template: tuple, *values: str) -> dict:
        name, *keys = template
        return {"name": name, "arguments": dict(zip(keys, values, strict=True)) | self.besides.get(name, {})}

    def run(self, command):
        return self.step(self.shell, command)

    def read(self, path):
        return self.step(self.reader, str(self.folder / path))

    def write(self, path, text):
        return self.step(self.writer, str(self.folder / path), text)

    def edit(self, path, old, new):
        return self.step(self.editor, str(self.folder / path), old, new)
