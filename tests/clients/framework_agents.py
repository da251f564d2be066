"""Agents built with the frameworks of the matrix; their programs stand in python/agents and javascript/agents."""

import pathlib

from agent_client import INSTALLED, KEY, AgentClient, NamedTools, Place
from scenarios import Tools

HERE = pathlib.Path(__file__).parent


def configure(place: Place) -> dict[str, str]:
    """Every framework reads its base URL and key from the variables of the SDK below it, or from these."""
    return {
        "OPENAI_BASE_URL": f"{place.base}/openai/v1",
        "OPENAI_API_KEY": KEY,
        "GOOGLE_GEMINI_BASE_URL": f"{place.base}/google",
        "GOOGLE_API_KEY": KEY,
        "OTEL_SDK_DISABLED": "true",
        "LANGSMITH_TRACING": "false",
        "CREWAI_DISABLE_TELEMETRY": "true",
        "CREWAI_TRACING_ENABLED": "false",
        "MASTRA_TELEMETRY_DISABLED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


class SmolagentsTools(NamedTools):
    """A tool call ends a run."""

    def finish(self):
        return [{"name": "final_answer", "arguments": {"answer": "done"}}]


class SmolagentsCode(Tools):
    """Tools are called in Python code within the text."""

    def code(self, line: str) -> dict:
        return {"text": f"Thought: I go on with the task.\n<code>\n{line}\n</code>"}

    def call(self, tool: str, *values: str) -> dict:
        return self.code(f"print({tool}({', '.join(map(repr, values))}))")

    def run(self, command):
        return self.call("run_command", command)

    def read(self, path):
        return self.call("read_file", path)

    def write(self, path, text):
        return self.call("write_file", path, text)

    def edit(self, path, old, new):
        return self.call("edit_file", path, old, new)

    def finish(self):
        return [self.code("final_answer('done')")]


class CrewaiTools(NamedTools):
    """Five identical calls with identical results end a task."""

    halts_on_identical_results = True


def tools_of(kind: type[NamedTools]):
    """The tools of this kind, with the names that they have in every framework."""
    return lambda place: kind(
        place.work,
        ("run_command", "command"),
        ("read_file", "path"),
        ("write_file", "path", "text"),
        ("edit_file", "path", "old", "new"),
    )


def python(name: str, program: str, *kind: str, packages: str | None = None, **more) -> AgentClient:
    """An agent in Python; without a memory on disk it begins again after it was stopped."""
    command = lambda prompt: [str(HERE / "python/agents" / program), *kind, prompt]
    interpreter = f"{packages or name}/bin/python"
    return framework(name, interpreter, command, **more)


def javascript(name: str, program: str, **more) -> AgentClient:
    command = lambda prompt: [str(INSTALLED / "agents/javascript-frameworks" / program), prompt]
    return framework(name, "sdks/bin/node", command, **more)


def framework(name: str, program: str, command, format: str = "openai", **more) -> AgentClient:
    described = dict(name=name, format=format, program=program, start=command, resume=command)
    return AgentClient(**described, configure=configure, **({"tools": tools_of(NamedTools)} | more))


FRAMEWORK_AGENTS = [
    python("openai-agents", "openai_agents_agent.py"),
    python("pydantic-ai", "pydantic_ai_agent.py"),
    python("langgraph", "langgraph_agent.py"),
    # It tries a task that failed twice more, whatever the reason.
    python("crewai", "crewai_agent.py", tools=tools_of(CrewaiTools), requests_after_stop=2),
    python("autogen", "autogen_agent.py"),
    python("smolagents", "smolagents_agent.py", "tools", tools=tools_of(SmolagentsTools)),
    python(
        "smolagents-code",
        "smolagents_agent.py",
        "code",
        packages="smolagents",
        tools=lambda place: SmolagentsCode(),
    ),
    python("google-adk", "google_adk_agent.py", format="gemini"),
    python("llama-index", "llama_index_agent.py"),
    javascript("ai-sdk", "ai_sdk_agent.mjs"),
    javascript("mastra", "mastra_agent.mjs"),
]
