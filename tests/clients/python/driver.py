"""Runs one client after another as told on standard input: one JSON command per line, one JSON reply per line.

Told to by the tests, which run in another process: the packages of some clients exclude those of others.
"""

import gc
import importlib
import json
import os
import sys
from types import SimpleNamespace


def run(command: dict, clients: dict, open_clients: dict) -> dict:
    """What comes of one command: a value, or the exception that a user of this client would see."""
    key = command["client"], command["base"]
    try:
        if key not in open_clients:
            open_clients[key] = clients[command["client"]](command["base"])
        method = getattr(open_clients[key], command["do"])
        return {"value": method(SimpleNamespace(**command["task"]))}
    except Exception as error:
        return {"error": {"type": type(error).__name__, "message": str(error)}}


def main(modules: list[str]) -> None:
    # Some clients print: what they say must not be taken for a reply.
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    clients = {}
    for module in modules:
        clients |= importlib.import_module(module).CLIENTS
    print(json.dumps({"clients": sorted(clients)}), file=replies, flush=True)
    # Between the tasks only: a stream that a client left open is closed when it is collected, and httpx waits for itself
    # for ever if that happens while it holds the lock of its connections.
    gc.disable()
    gc.freeze()
    open_clients = {}
    for line in sys.stdin:
        print(json.dumps(run(json.loads(line), clients, open_clients)), file=replies, flush=True)
        gc.collect()


main(sys.argv[1:])
