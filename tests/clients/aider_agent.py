"""aider: a person types, the model answers with edits in its text, and the program applies them and runs the tests."""

from agent_client import KEY, AgentClient, Place
from scenarios import BUGS, MODULES, MOST_STEPS, Tools

# After an edit that fails aider asks the model again by itself, but not more often than this.
MOST_REFLECTIONS = 3

OPTIONS = {
    "analytics-disable": None,
    "edit-format": "diff",
    "map-tokens": "0",
    # Else it asks the model for summaries, which the script would answer with edits.
    "max-chat-history-tokens": "1000000",
    "model": "openai/gpt-4o",
    "no-check-update": None,
    "no-fancy-input": None,
    "no-git": None,
    "no-pretty": None,
    "no-show-model-warnings": None,
    "yes-always": None,
}


class EditBlocks(Tools):
    """Edits as aider reads them from text."""

    def edit(self, path, old, new):
        return {"text": f"{path}\n```python\n<<<<<<< SEARCH\n{old}=======\n{new}>>>>>>> REPLACE\n```\n"}

    def write(self, path, text):
        return self.edit(path, "", text)


def healthy(tools: Tools) -> list[dict]:
    steps = []
    for number in range(1, MODULES + 1):
        name, limit = f"module_{number}.py", f"LIMIT_{number}"
        steps.append(tools.edit(name, f"{limit} = {number}\n", f"{limit} = {number + 9}\n"))
        steps.append(tools.edit(name, "    return None\n", f"    return {limit} * {number + 3}\n"))
        steps.append(tools.write(f"test_module_{number}.py", f"import module_{number}\n"))
        steps.append({"text": f"Module {number} returns {(number + 9) * (number + 3)} now, and a test imports it."})
    return steps


def stuck(tools: Tools) -> list[dict]:
    """An edit of a line that is not there."""
    return [tools.edit("parser.py", "    connect(database)\n", "    connect(database, retry=True)\n")] * MOST_STEPS


def edit_test(tools: Tools) -> list[dict]:
    steps = []
    for number in range(1, BUGS + 1):
        old, new = f"    row_{number} = None  # BUG {number}\n", f"    row_{number} = rows[{number}]\n"
        steps.append(tools.edit("parser.py", old, new))
    return steps


def typed() -> dict[str, list[str]]:
    """What a person types: without it aider does nothing."""
    asked = []
    for number in range(1, MODULES + 1):
        asked += [f"Raise the limit of module {number}.", f"Return the product from module {number}."]
        asked += [f"Write a test for module {number}.", f"Say what you did to module {number}."]
    return {
        "healthy": asked,
        "stuck": ["The service does not start. Fix it."] * (MOST_STEPS // (MOST_REFLECTIONS + 1)),
        # What failing tests print goes to the model.
        "edit-test": ["/test sh run-tests.sh"] * BUGS,
    }


def arguments(*more: str) -> list[str]:
    options = [item for name, value in OPTIONS.items() for item in (f"--{name}", value) if item is not None]
    modules = [f"module_{number}.py" for number in range(1, MODULES + 1)]
    return ["-m", "aider", *options, *more, "parser.py", *modules]


def configure(place: Place) -> dict[str, str]:
    return {
        "OPENAI_API_BASE": f"{place.base}/openai/v1",
        "OPENAI_API_KEY": KEY,
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    }


AIDER = AgentClient(
    name="aider",
    format="openai",
    program="aider/bin/python",
    start=lambda prompt: arguments(),
    resume=lambda prompt: arguments("--restore-chat-history"),
    configure=configure,
    tools=lambda place: EditBlocks(),
    typed=typed(),
    scripts={"healthy": healthy, "stuck": stuck, "edit-test": edit_test},
    cannot={"polling": "the model has no tool with which it could look"},
)
