"""What a coding agent is scripted to do: the files it works on, and its tool calls one by one."""

import dataclasses
import pathlib
import stat
from collections.abc import Callable

# A client that is never stopped ends here: its script has no further step.
MOST_STEPS = 90
BUGS = 30
MODULES = 9

TESTS = """#!/bin/sh
failed=$(grep -c BUG parser.py)
echo "$failed failed"
test "$failed" -eq 0
"""

JOB = """#!/bin/sh
percent=$(($(cat .percent 2>/dev/null || echo 0) + 1))
echo "$percent" > .percent
echo "job import-rows: running, $percent%"
"""

CHECK = """#!/bin/sh
echo "error: cannot connect to the database at db.internal: connection refused"
exit 1
"""


def make_workspace(folder: pathlib.Path) -> None:
    """The files that the scenarios read, edit and run."""
    for name, text in {"run-tests.sh": TESTS, "job-status.sh": JOB, "check.sh": CHECK}.items():
        path = folder / name
        path.write_text(text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    (folder / "service.log").write_text("starting\nwaiting for the database\ngave up\n")
    lines = [f"    row_{number} = None  # BUG {number}\n" for number in range(1, BUGS + 1)]
    (folder / "parser.py").write_text("def parse(rows):\n" + "".join(lines))
    for number in range(1, MODULES + 1):
        (folder / f"module_{number}.py").write_text(f"LIMIT_{number} = {number}\n\n\ndef run():\n    return None\n")


class Tools:
    """How one client calls its own tools; each method makes a step of a script."""

    #: Whether the client ends a run by itself after a few identical calls in a row.
    halts_on_identical_calls = False
    #: Whether it does so after a few identical calls with identical results.
    halts_on_identical_results = False

    def run(self, command: str) -> dict:
        raise NotImplementedError

    def finish(self) -> list[dict]:
        """What ends a run, if words alone do not."""
        return []

    def read(self, path: str) -> dict:
        return self.run(f"cat {path}")

    def write(self, path: str, text: str) -> dict:
        raise NotImplementedError

    def edit(self, path: str, old: str, new: str) -> dict:
        raise NotImplementedError


def healthy(tools: Tools) -> list[dict]:
    """36 steps of work, each on something new."""
    steps = []
    for number in range(1, MODULES + 1):
        name = f"module_{number}.py"
        steps.append(tools.read(name))
        steps.append(tools.edit(name, "    return None\n", f"    return LIMIT_{number} * {number + 3}\n"))
        steps.append(tools.write(f"test_module_{number}.py", f"import module_{number}\nassert module_{number}.run()\n"))
        steps.append(tools.run(f"python3 test_module_{number}.py && echo module {number} passes"))
    return steps


def stuck(tools: Tools) -> list[dict]:
    """The same call with the same result; for clients that notice this, two such calls in turn or one with a clock."""
    if tools.halts_on_identical_calls:
        return [tools.run("sh check.sh"), tools.read("service.log")] * (MOST_STEPS // 2)
    if tools.halts_on_identical_results:
        return [tools.run("date -u +%T.%N; sh check.sh")] * MOST_STEPS
    return [tools.run("sh check.sh")] * MOST_STEPS


def edit_test(tools: Tools) -> list[dict]:
    """One fix after another, with the tests in between; one test fewer fails each time."""
    steps = [tools.read("parser.py")]
    for number in range(1, BUGS + 1):
        old, new = f"row_{number} = None  # BUG {number}\n", f"row_{number} = rows[{number}]\n"
        steps += [tools.edit("parser.py", old, new), tools.run("sh run-tests.sh")]
    return steps


def polling(tools: Tools) -> list[dict]:
    """A job whose percentage rises."""
    if tools.halts_on_identical_calls:
        return [tools.run("sh job-status.sh"), tools.run("sleep 0.2")] * 30
    return [tools.run("sh job-status.sh")] * 60


@dataclasses.dataclass(frozen=True)
class Scenario:
    """What a person asks for, and what the model does about it."""

    name: str
    prompt: str
    steps: Callable[[Tools], list[dict]]
    label: dict


HEALTHY = Scenario("healthy", "Make every module return its product.", healthy, {"label": "ok"})
STUCK = Scenario("stuck", "Find out why the service does not start.", stuck, {"verdict": "loop", "first_stuck_call": 1})
EDIT_TEST = Scenario("edit-test", "Fix the failing tests of the parser.", edit_test, {"label": "ok"})
POLLING = Scenario("polling", "Tell me when the import is done.", polling, {"label": "ok"})
SCENARIOS = [HEALTHY, STUCK, EDIT_TEST, POLLING]
