"""Runs clients with the kill switch off and writes each run as `replay` reads it: record_runs.py DIR [CLIENT…]"""

import pathlib
import sys
import tempfile
import time

from agent_runs import AgentRun
from agent_table import AGENTS
from scenarios import SCENARIOS
from server import running_server


def record(folder: pathlib.Path, wanted: list[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as data, running_server(pathlib.Path(data)) as server:
        for client in AGENTS:
            if wanted and client.name not in wanted:
                continue
            for scenario in SCENARIOS:
                if scenario.name in client.cannot:
                    continue
                run = AgentRun(server, client, f"{client.name}-{scenario.name}")
                begun = time.monotonic()
                outcome = run.start(scenario)
                run.save(folder, scenario)
                seconds = time.monotonic() - begun
                print(f"{run.agent}: {outcome.answered} calls, {outcome.left} steps left, {seconds:.1f} s", flush=True)


record(pathlib.Path(sys.argv[1]), sys.argv[2:])
