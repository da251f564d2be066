"""Mixed traffic at a steady rate, and a verdict on what grew.

The traffic is the same from the first second to the last, so after a warm-up nothing should grow: the second quarter of the run is
compared with the last one. All limits are ratios within the run, with a small allowance for noise.

SOAK_FAULT=memory, descriptors or latency makes that grow from outside, to see that the run fails.
"""

import http.client
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

TOKEN = "soak-token-0123456789abcdef"

# Ratio of the last quarter to the second, and what may come on top of it.
LIMITS = {
    "memory (MiB)": (1.15, 8.0),
    "file descriptors": (1.2, 8.0),
    "latency p50 (ms)": (1.5, 2.0),
    "latency p95 (ms)": (2.0, 10.0),
}


def wait_for(path, process):
    while not path.exists():
        if process.poll() is not None:
            sys.exit(f"{process.args[0]} ended with {process.returncode} before it was ready")
        time.sleep(0.05)
    return json.loads(path.read_text())


def host_of(url):
    return url.removeprefix("http://").rstrip("/")


class Traffic:
    """Workers that call until the run is over, and what they measured."""

    def __init__(self, proxy, dashboard, seconds):
        self.proxy, self.dashboard = proxy, dashboard
        self.started = time.monotonic()
        self.end = self.started + seconds
        self.lock = threading.Lock()
        self.latencies = []
        self.calls = {}
        self.failures = []
        self.notices = 0

    def is_over(self):
        return time.monotonic() >= self.end

    def note(self, kind, status, began):
        now = time.monotonic()
        with self.lock:
            self.calls[kind] = self.calls.get(kind, 0) + 1
            if kind == "small":
                self.latencies.append((began - self.started, (now - began) * 1000))
            if status != 200:
                self.failures.append(f"{kind}: status {status}")

    def fail(self, kind, error):
        with self.lock:
            self.failures.append(f"{kind}: {error!r}")

    def call(self, kind, agents, per_second, make_body):
        """Calls the proxy `per_second` times a second, as one of `agents` after the other."""
        connection, number = http.client.HTTPConnection(self.proxy, timeout=30), 0
        while not self.is_over():
            began, number = time.monotonic(), number + 1
            agent = f"{kind}-{number % agents}"
            try:
                # Few conversations per agent, so that all windows are full after the warm-up.
                session = f"session-{number // agents % 2}"
                headers = {"content-type": "application/json", "authorization": "Bearer none", "x-session-id": session}
                path = f"/agents/{agent}/openai/v1/chat/completions"
                connection.request("POST", path, json.dumps(make_body(number)), headers)
                answer = connection.getresponse()
                answer.read()
                self.note(kind, answer.status, began)
            except (OSError, http.client.HTTPException) as error:
                self.fail(kind, error)
                connection.close()
            time.sleep(max(0.0, began + 1 / per_second - time.monotonic()))

    def watch(self):
        """Reads the live events as an open dashboard does."""
        connection = http.client.HTTPConnection(self.dashboard, timeout=60)
        try:
            connection.request("GET", "/api/stream", headers={"authorization": f"Bearer {TOKEN}"})
            answer = connection.getresponse()
            if answer.status != 200:
                return self.fail("watch", f"status {answer.status}")
            while not self.is_over():
                if not answer.read1(65536):
                    return self.fail("watch", "the stream ended")
                self.notices += 1
        except (OSError, http.client.HTTPException) as error:
            self.fail("watch", error)

    def look(self):
        """Asks the API for what pages show."""
        paths = ["/api/agents?limit=20", "/api/events?limit=20", "/api/stats/overview", "/healthz"]
        connection, number = http.client.HTTPConnection(self.dashboard, timeout=30), 0
        while not self.is_over():
            began, number = time.monotonic(), number + 1
            try:
                connection.request("GET", paths[number % len(paths)], headers={"authorization": f"Bearer {TOKEN}"})
                answer = connection.getresponse()
                answer.read()
                self.note("look", answer.status, began)
            except (OSError, http.client.HTTPException) as error:
                self.fail("look", error)
                connection.close()
            time.sleep(max(0.0, began + 0.5 - time.monotonic()))

    def grow_memory(self, _server):
        """Lets ever new agents make calls: each has a window and evidence of its own."""
        connection, number = http.client.HTTPConnection(self.proxy, timeout=30), 0
        while not self.is_over():
            number += 1
            # Noise, because evidence is compressed.
            content = body(f"Case {number}: {os.urandom(24_000).hex()}")
            path = f"/agents/new-{number}/openai/v1/chat/completions"
            connection.request("POST", path, json.dumps(content), {"content-type": "application/json"})
            connection.getresponse().read()
            time.sleep(0.02)

    def grow_descriptors(self, _server):
        """Makes a request twice a second and leaves its connection open."""
        connections = []
        while not self.is_over():
            connection = http.client.HTTPConnection(self.proxy, timeout=30)
            connection.request("GET", "/")
            connection.getresponse().read()
            connections.append(connection)
            time.sleep(0.5)

    def grow_latency(self, server):
        """Stops the server for moments that become longer."""
        while not self.is_over():
            passed = (time.monotonic() - self.started) / (self.end - self.started)
            server.send_signal(signal.SIGSTOP)
            time.sleep(0.3 * passed**4)
            server.send_signal(signal.SIGCONT)
            time.sleep(0.1)

    def workers(self):
        small = lambda number: body(f"Question {number} about the harbour of town {number % 97}")
        large = lambda number: body(f"Summary {number}: " + f"line {number} of the report. " * 1300)
        stream = lambda number: body(f"Tell story {number} of the lighthouse", stream=True)
        runs = [lambda: self.call("small", 10, 15, small) for _ in range(3)]
        runs += [lambda: self.call("large", 5, 5, large), lambda: self.call("agents", 20, 10, small)]
        runs += [lambda: self.call("stream", 10, 4, stream) for _ in range(3)]
        runs += [self.watch for _ in range(4)] + [self.look]
        return [threading.Thread(target=run, daemon=True) for run in runs]


def body(prompt, stream=False):
    return {"model": "gpt-4o", "stream": stream, "messages": [{"role": "user", "content": prompt}]}


def sample(pid, traffic):
    """Memory and file descriptors of the server, once a second."""
    samples = []
    while not traffic.is_over():
        status = Path(f"/proc/{pid}/status").read_text()
        memory = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
        descriptors = len(os.listdir(f"/proc/{pid}/fd"))
        samples.append((time.monotonic() - traffic.started, memory / 1024, descriptors))
        time.sleep(1)
    return samples


def quarter(rows, seconds, which):
    return [row[1:] for row in rows if which * seconds / 4 <= row[0] < (which + 1) * seconds / 4]


def judge(samples, traffic, seconds):
    """Prints what was measured; whether nothing grew."""
    figures = {}
    for name, which in [("before", 1), ("after", 3)]:
        memory, descriptors = zip(*quarter(samples, seconds, which))
        latencies = sorted(latency for (latency,) in quarter(traffic.latencies, seconds, which))
        values = [
            statistics.median(memory),
            statistics.median(descriptors),
            latencies[len(latencies) // 2],
            latencies[len(latencies) * 95 // 100],
        ]
        figures[name] = dict(zip(LIMITS, values))
    is_steady = True
    print(f"{'':20} {'2nd quarter':>12} {'last quarter':>12} {'at most':>12}")
    for name, (ratio, allowance) in LIMITS.items():
        before, after = figures["before"][name], figures["after"][name]
        most = before * ratio + allowance
        grew = after > most
        is_steady &= not grew
        print(f"{name:20} {before:12.1f} {after:12.1f} {most:12.1f}{'   GREW' if grew else ''}")
    print("calls:", ", ".join(f"{kind} {count}" for kind, count in sorted(traffic.calls.items())))
    print(f"reads of live events: {traffic.notices}, failures: {len(traffic.failures)}")
    for failure in traffic.failures[:10]:
        print("  ", failure)
    return is_steady and not traffic.failures


def run(binary, seconds, folder):
    provider_ready, ready = folder / "provider.json", folder / "ready.json"
    provider = subprocess.Popen(
        [binary, "provider", "--echo", "--chunks", "20", "--delay", "5", "--ready-file", provider_ready],
        stdout=subprocess.DEVNULL,
    )
    upstream = wait_for(provider_ready, provider)["provider"]
    server = subprocess.Popen(
        [binary, "start", "--port", "0", "--proxy-port", "0", "--data-dir", folder / "data", "--token", TOKEN]
        + ["--provider", f"openai={upstream}", "--ready-file", ready],
        stdout=subprocess.DEVNULL,
    )
    try:
        addresses = wait_for(ready, server)
        traffic = Traffic(host_of(addresses["proxy"]), host_of(addresses["dashboard"]), seconds)
        workers = traffic.workers()
        if fault := os.environ.get("SOAK_FAULT"):
            grow = getattr(traffic, f"grow_{fault}")
            workers.append(threading.Thread(target=grow, args=[server], daemon=True))
        for worker in workers:
            worker.start()
        samples = sample(server.pid, traffic)
        for worker in workers:
            worker.join(timeout=35)
        is_steady = judge(samples, traffic, seconds)
        server.send_signal(signal.SIGTERM)
        code = server.wait(timeout=60)
        print("server ended with", code)
        return is_steady and code == 0
    finally:
        for process in (server, provider):
            if process.poll() is None:
                process.kill()


def main():
    binary, seconds = sys.argv[1], float(sys.argv[2])
    if seconds < 20:
        sys.exit("a soak of less than 20 seconds says nothing")
    with tempfile.TemporaryDirectory() as folder:
        is_steady = run(binary, seconds, Path(folder))
    print("steady" if is_steady else "NOT STEADY")
    sys.exit(0 if is_steady else 1)


main()
