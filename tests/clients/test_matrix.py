"""Every client, unchanged but for its base URL: request, stream, tools, the refusal, and what does not count."""

import datetime

import pytest
from drivers import Failed
from table import CLIENTS

QUESTION = "What does the importer do with an empty row?"
TOOL = {
    "name": "read_file",
    "description": "Read a file",
    "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
}
RESULT = "fn import(row) { skip_if_empty(row) }"
MODEL = "model-of-the-tests"
# Longer than any answer takes, short enough to wait for.
TIMEOUT_SECONDS = 2


class Session:
    """One client with an agent of its own."""

    def __init__(self, server, drivers, client, agent):
        self.server, self.client, self.agent = server, client, agent
        self.driver = drivers[client.driver]

    def do(self, what: str, stream: bool = False, timeout: float | None = None):
        task = {"model": MODEL, "question": QUESTION, "tool": TOOL, "result": RESULT}
        task |= {"stream": stream, "timeout": timeout}
        return self.driver.run(self.client.name, f"{self.server.proxy}/agents/{self.agent}", what, task)

    def events(self, at_least: int) -> list[dict]:
        return self.server.events(self.agent, at_least)


def clients(wanted=lambda client: True):
    """A session with each client that is wanted."""
    chosen = [client for client in CLIENTS if wanted(client)]
    return pytest.mark.parametrize("client", chosen, ids=[client.id for client in chosen])


streamed_or_not = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])


@pytest.fixture
def session(server, drivers, agent, client):
    return Session(server, drivers, client, agent)


@clients()
@streamed_or_not
def test_a_call_is_answered(session, recordings, stream):
    said = session.do("ask", stream)
    recordings.take(session.client.id, "stream" if stream else "ask")
    assert "everything is in order" in "".join(said)
    if stream:
        assert len([piece for piece in said if piece]) > 1, "piece by piece"
    [event] = session.events(1)
    expected = {"provider": session.client.provider, "model": MODEL, "status_code": 200, "score": 0.0}
    assert {key: event[key] for key in expected} == expected
    if not stream:
        assert event["tokens_in"] > event["tokens_out"] > 1


@clients(lambda client: client.tools)
@streamed_or_not
def test_tools_are_called_and_answered(session, recordings, stream):
    used = session.do("use_tool", stream)
    if not stream:
        recordings.take(session.client.id, "use_tool")
    assert (used["tool"], used["arguments"]) == ("read_file", {"path": "example"})
    assert "everything is in order" in used["said"]
    scores = [event["score"] for event in session.events(2) if event["status_code"] == 200]
    assert scores == [0.0, 0.0], "working on a question is not asking it again"


@clients()
@streamed_or_not
def test_a_loop_is_refused_once_and_readably(session, server, stream):
    for _ in range(5):
        session.do("ask", stream)
    seen = server.seen_by_provider()
    for refused in [1, 2]:
        with pytest.raises(Failed) as failed:
            session.do("ask", stream)
        assert session.agent in failed.value.message and "deactivated" in failed.value.message, failed.value
        assert server.requests(session.agent, 5 + refused) == 5 + refused, "one request, and no other try"
    assert server.seen_by_provider() == seen, "a refused call does not reach the provider"
    assert server.api("GET", f"/api/agents/{session.agent}")["deactivated_by"] == "kill_switch"

    server.api("PATCH", f"/api/agents/{session.agent}", {"active": True})
    session.do("ask", stream)


def another_day() -> str:
    """Neither today nor tomorrow, whichever of the two it is when this is asked."""
    now = datetime.datetime.now(datetime.UTC)
    return (now + datetime.timedelta(days=3)).strftime("%a").lower()


POLICIES = {
    "budget": ({"budget_daily_usd": 0}, "budget"),
    "hours": ({"allowed_hours": [{"days": [another_day()], "from": "00:00", "to": "24:00"}]}, "hours"),
}


@clients()
@streamed_or_not
@pytest.mark.parametrize(("policy", "word"), POLICIES.values(), ids=POLICIES)
def test_a_policy_refuses_once_and_readably(session, server, stream, policy, word):
    server.api("PUT", f"/api/agents/{session.agent}/policy", policy)
    seen = server.seen_by_provider()
    with pytest.raises(Failed) as failed:
        session.do("ask", stream)
    assert session.agent in failed.value.message and word in failed.value.message, failed.value
    assert server.requests(session.agent, 1) == 1, "one request, and no other try"
    assert server.seen_by_provider() == seen, "a refused call does not reach the provider"


def ask_until_answered(session, **how) -> int:
    """Asks as a user would who does not give up; says how often."""
    for attempt in range(1, 5):
        try:
            session.do("ask", **how)
            return attempt
        except Failed as failed:
            assert attempt < 4, failed
    raise AssertionError("never answered")


@clients()
def test_a_call_that_was_tried_again_counts_once(session, server):
    server.let_fail([{"status": 500}, {"status": 429}])
    ask_until_answered(session)
    session.do("ask")
    events = session.events(4)
    assert [event["status_code"] for event in events] == [500, 429, 200, 200]
    assert events[-1]["score"] == 1.0, "one earlier call with this prompt"


@clients(lambda client: client.timeouts)
def test_a_call_that_timed_out_counts_once(session, server):
    server.let_fail(["stall"])
    session.do("ask", timeout=TIMEOUT_SECONDS)
    session.do("ask")
    events = session.events(3)
    assert len(events) == 3
    assert events[-1]["score"] == 1.0, "one earlier call with this prompt"


@clients(lambda client: client.side_calls)
def test_side_calls_are_recorded_but_not_scored(session, server):
    made = sum(session.do("side_calls") for _ in range(7))
    events = session.events(made)
    assert len(events) == made
    assert {event["score"] for event in events} == {None}
    assert server.api("GET", f"/api/agents/{session.agent}")["active"]
