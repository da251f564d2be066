"""The coding agents of the matrix, as they come from npm."""

import json
from collections.abc import Callable

from agent_client import KEY, AgentClient, NamedTools, Place
from scenarios import Tools

MODEL = "model-of-the-tests"

# Claude Code.


def configure_claude_code(place: Place) -> dict[str, str]:
    return {
        "ANTHROPIC_BASE_URL": f"{place.base}/anthropic",
        "ANTHROPIC_API_KEY": KEY,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        # It refuses to skip permissions as root, unless it is told that it runs in a sandbox.
        "IS_SANDBOX": "1",
    }


def claude_code_tools(place: Place) -> Tools:
    return NamedTools(
        place.work,
        ("Bash", "command"),
        ("Read", "file_path"),
        ("Write", "file_path", "content"),
        ("Edit", "file_path", "old_string", "new_string"),
        {"Bash": {"description": "Run a command"}},
    )


# Codex.

CODEX = """
model = "{model}"
model_provider = "proxy"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.proxy]
name = "proxy"
base_url = "{base}/openai/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
"""


def configure_codex(model: str) -> Callable[[Place], dict[str, str]]:
    def configure(place: Place) -> dict[str, str]:
        place.configure(".codex/config.toml", CODEX.format(model=model, base=place.base))
        return {"OPENAI_API_KEY": KEY}

    return configure


def update_patch(path: str, old: str, new: str) -> str:
    """A patch in Codex' own form; lines are found by their whole text."""
    removed = "".join(f"-{line}\n" for line in old.splitlines())
    added = "".join(f"+{line}\n" for line in new.splitlines())
    return f"*** Begin Patch\n*** Update File: {path}\n@@\n{removed}{added}*** End Patch"


def add_patch(path: str, text: str) -> str:
    added = "".join(f"+{line}\n" for line in text.splitlines())
    return f"*** Begin Patch\n*** Add File: {path}\n{added}*** End Patch"


class CodexTools(Tools):
    """A shell and a patch tool that takes text."""

    def run(self, command):
        return {"name": "exec_command", "arguments": {"cmd": command}}

    def write(self, path, text):
        return {"name": "apply_patch", "arguments": add_patch(path, text)}

    def edit(self, path, old, new):
        return {"name": "apply_patch", "arguments": update_patch(path, old, new)}


class CodexCodeTools(Tools):
    """One tool that runs JavaScript, in which the tools are functions."""

    def script(self, tool: str, argument) -> dict:
        script = f"const result = await tools.{tool}({json.dumps(argument)});\ntext(result);\n"
        return {"name": "exec", "arguments": script}

    def run(self, command):
        return self.script("exec_command", {"cmd": command})

    def write(self, path, text):
        return self.script("apply_patch", add_patch(path, text))

    def edit(self, path, old, new):
        return self.script("apply_patch", update_patch(path, old, new))


CODEX_EXEC = ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"]


def codex(name: str, model: str, tools: Callable[[Place], Tools], fast: frozenset[str] = frozenset()) -> AgentClient:
    return AgentClient(
        name=name,
        format="openai",
        program="agents/codex/node_modules/.bin/codex",
        start=lambda prompt: [*CODEX_EXEC, prompt],
        resume=lambda prompt: [*CODEX_EXEC, "resume", "--last", prompt],
        configure=configure_codex(model),
        tools=tools,
        fast=fast,
    )


# Gemini CLI.


def configure_gemini_cli(place: Place) -> dict[str, str]:
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
        "general": {"enableAutoUpdate": False},
        "privacy": {"usageStatisticsEnabled": False},
        "model": {"name": "gemini-3.1-pro-preview", "disableLoopDetection": True},
    }
    place.configure(".gemini/settings.json", settings)
    return {"GOOGLE_GEMINI_BASE_URL": f"{place.base}/google", "GEMINI_API_KEY": KEY}


def gemini_cli_tools(place: Place) -> Tools:
    return NamedTools(
        place.work,
        ("run_shell_command", "command"),
        ("read_file", "file_path"),
        ("write_file", "file_path", "content"),
        ("replace", "file_path", "old_string", "new_string"),
        {"replace": {"instruction": "Replace the line"}},
    )


# Qwen Code.


def configure_qwen_code(place: Place) -> dict[str, str]:
    settings = {
        "general": {"enableAutoUpdate": False},
        "privacy": {"usageStatisticsEnabled": False},
        "model": {"skipLoopDetection": True},
    }
    place.configure(".qwen/settings.json", settings)
    return {"OPENAI_BASE_URL": f"{place.base}/openai/v1", "OPENAI_API_KEY": KEY, "OPENAI_MODEL": MODEL}


class QwenCodeTools(NamedTools):
    """Five identical calls in a row end a run, whatever the settings say."""

    halts_on_identical_calls = True


def qwen_code_tools(place: Place) -> Tools:
    return QwenCodeTools(
        place.work,
        ("run_shell_command", "command"),
        ("read_file", "file_path"),
        ("write_file", "file_path", "content"),
        ("edit", "file_path", "old_string", "new_string"),
        {"run_shell_command": {"is_background": False}},
    )


QWEN = ["--auth-type", "openai", "--yolo"]


# opencode.


def configure_opencode(place: Place) -> dict[str, str]:
    model = {"name": MODEL, "limit": {"context": 200_000, "output": 8_000}}
    options = {"baseURL": f"{place.base}/openai/v1", "apiKey": KEY}
    provider = {"npm": "@ai-sdk/openai-compatible", "name": "proxy", "options": options, "models": {MODEL: model}}
    settings = {
        "autoupdate": False,
        "share": "disabled",
        "model": f"proxy/{MODEL}",
        "small_model": f"proxy/{MODEL}",
        "permission": {"bash": "allow", "edit": "allow", "doom_loop": "allow"},
        "provider": {"proxy": provider},
    }
    place.configure(".config/opencode/opencode.json", settings)
    return {"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1"}


def opencode_tools(place: Place) -> Tools:
    return NamedTools(
        place.work,
        ("bash", "command"),
        ("read", "filePath"),
        ("write", "filePath", "content"),
        ("edit", "filePath", "oldString", "newString"),
        {"bash": {"description": "Run a command"}},
    )


# pi.


def configure_pi(place: Place) -> dict[str, str]:
    model = {"id": MODEL, "name": MODEL, "reasoning": False, "input": ["text"]}
    model |= {"contextWindow": 200_000, "maxTokens": 8_000}
    model |= {"cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}}
    provider = {"baseUrl": f"{place.base}/openai/v1", "api": "openai-completions", "apiKey": KEY, "models": [model]}
    place.configure(".pi/agent/models.json", {"providers": {"proxy": provider}})
    return {"PI_OFFLINE": "1"}


class PiTools(NamedTools):
    """Its editor takes a list of changes."""

    def edit(self, path, old, new):
        changes = [{"oldText": old, "newText": new}]
        return {"name": "edit", "arguments": {"path": str(self.folder / path), "edits": changes}}


def pi_tools(place: Place) -> Tools:
    return PiTools(
        place.work, ("bash", "command"), ("read", "path"), ("write", "path", "content"), ("edit", "", "", "")
    )


PI = ["--provider", "proxy", "--model", MODEL]

CODING_AGENTS = [
    AgentClient(
        name="claude-code",
        format="anthropic",
        program="agents/claude-code/node_modules/@anthropic-ai/claude-code-*/claude",
        start=lambda prompt: ["--dangerously-skip-permissions", "-p", prompt],
        resume=lambda prompt: ["--dangerously-skip-permissions", "--continue", "-p", prompt],
        configure=configure_claude_code,
        tools=claude_code_tools,
        fast=frozenset({"healthy", "stuck", "edit-test", "polling"}),
    ),
    codex("codex", "gpt-5.5", lambda place: CodexTools(), fast=frozenset({"healthy", "stuck", "edit-test", "polling"})),
    codex("codex-code-mode", "gpt-6-sol", lambda place: CodexCodeTools()),
    AgentClient(
        name="gemini-cli",
        format="gemini",
        program="agents/gemini-cli/node_modules/.bin/gemini",
        start=lambda prompt: ["--yolo", "-p", prompt],
        resume=lambda prompt: ["--yolo", "--resume", "latest", "-p", prompt],
        configure=configure_gemini_cli,
        tools=gemini_cli_tools,
        fast=frozenset({"healthy", "stuck", "edit-test", "polling"}),
    ),
    AgentClient(
        name="opencode",
        format="openai",
        program="agents/opencode/node_modules/opencode-*-*/bin/opencode",
        start=lambda prompt: ["run", prompt],
        resume=lambda prompt: ["run", "--continue", prompt],
        configure=configure_opencode,
        tools=opencode_tools,
    ),
    AgentClient(
        name="qwen-code",
        format="openai",
        program="agents/qwen-code/node_modules/.bin/qwen",
        start=lambda prompt: [*QWEN, "-p", prompt],
        resume=lambda prompt: [*QWEN, "--continue", "-p", prompt],
        configure=configure_qwen_code,
        tools=qwen_code_tools,
    ),
    AgentClient(
        name="pi",
        format="openai",
        program="agents/pi/node_modules/.bin/pi",
        start=lambda prompt: [*PI, "-p", prompt],
        resume=lambda prompt: [*PI, "--continue", "-p", prompt],
        configure=configure_pi,
        tools=pi_tools,
        fast=frozenset({"healthy", "stuck", "edit-test", "polling"}),
    ),
]
