"""What each client sent, as fixtures for the readers of the formats."""

import json
import pathlib
from collections import defaultdict

# Headers that say something about the call. Credentials are never among them.
HEADERS = {
    "anthropic-beta",
    "anthropic-version",
    "content-encoding",
    "content-type",
    "user-agent",
    "x-goog-api-client",
    "x-stainless-retry-count",
}


class Recordings:
    """Collects the last request of each scenario, if a folder to write them to was given."""

    def __init__(self, server, folder: str | None):
        self.server, self.folder = server, folder
        self.requests = defaultdict(dict)

    def take(self, client: str, scenario: str) -> None:
        """Keeps the last request of a scenario."""
        if self.folder is None:
            return
        request = self.server.last_request()
        path, _, query = request["uri"].partition("?")
        self.requests[client][scenario] = {
            "method": request["method"],
            "path": path,
            "query": "&".join(pair for pair in query.split("&") if not pair.startswith("key=")),
            "headers": {name: value for name, value in request["headers"] if name in HEADERS},
            # As it came, not taken apart: readers see these very bytes.
            "body": request["body"],
        }

    def write(self) -> None:
        """Writes one file for each client."""
        for client, requests in self.requests.items():
            text = json.dumps(requests, indent=1, ensure_ascii=False, sort_keys=True)
            pathlib.Path(self.folder, f"{client}.json").write_text(text + "\n")
