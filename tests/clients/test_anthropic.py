"""The official Anthropic SDK, unchanged but for its base URL."""

import asyncio

import anthropic
import httpx2 as httpx
import pytest
from conftest import AsyncCountingTransport

TOOLS = [
    {
        "name": "read_file",
        "description": "Read a file",
        "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    }
]
QUESTION = {"role": "user", "content": "What does the importer do with an empty row?"}
ASK = {"model": "claude-test", "max_tokens": 256}


@pytest.fixture
def client(server, agent, transport):
    return anthropic.Anthropic(
        api_key="sk-test",
        base_url=f"{server.proxy}/agents/{agent}/anthropic",
        http_client=httpx.Client(transport=transport),
    )


def test_a_call_is_answered(client, server, agent):
    response = client.messages.with_raw_response.create(**ASK, messages=[QUESTION])
    assert response.parse().content[0].text
    assert response.headers["x-agentgazer-loop-score"] == "0.0/10.0"
    event = server.event(response.headers["x-agentgazer-request-id"])
    assert (event["agent_id"], event["model"], event["status_code"]) == (agent, "claude-test", 200)
    assert event["tokens_in"] > 0 and event["tokens_out"] > 0


def test_a_stream_is_answered(client):
    with client.messages.stream(**ASK, messages=[QUESTION]) as stream:
        pieces = list(stream.text_stream)
    assert len(pieces) > 1 and "".join(pieces).strip()


@pytest.mark.parametrize("streamed", [False, True])
def test_tools_are_called_and_answered(client, streamed):
    if streamed:
        with client.messages.stream(**ASK, messages=[QUESTION], tools=TOOLS) as stream:
            first = stream.get_final_message()
    else:
        first = client.messages.create(**ASK, messages=[QUESTION], tools=TOOLS)
    call = next(block for block in first.content if block.type == "tool_use")
    assert call.name == "read_file" and isinstance(call.input, dict)
    result = {"type": "tool_result", "tool_use_id": call.id, "content": "fn import(row) { skip_if_empty(row) }"}
    messages = [QUESTION, {"role": "assistant", "content": first.content}, {"role": "user", "content": [result]}]
    answer = client.messages.create(**ASK, messages=messages, tools=TOOLS)
    assert answer.content[0].text


@pytest.mark.parametrize("streamed", [False, True])
def test_the_refusal_is_one_readable_exception_after_one_request(client, server, agent, transport, streamed):
    def ask():
        if not streamed:
            return client.messages.create(**ASK, messages=[QUESTION])
        with client.messages.stream(**ASK, messages=[QUESTION]) as stream:
            return stream.get_final_message()

    for _ in range(5):
        ask()
    sent, seen = transport.requests, server.seen()
    with pytest.raises(anthropic.BadRequestError) as refusal:
        ask()
    assert transport.requests == sent + 1, "the SDK must not try again"
    assert server.seen() == seen, "the refused call must not reach the provider"
    assert agent in str(refusal.value) and "deactivated" in str(refusal.value)
    assert refusal.value.body["error"]["type"] == "invalid_request_error"
    assert server.api("GET", f"/api/agents/{agent}")["deactivated_by"] == "kill_switch"

    with pytest.raises(anthropic.BadRequestError):
        ask()
    assert transport.requests == sent + 2
    server.api("PATCH", f"/api/agents/{agent}", {"active": True})
    ask()


@pytest.mark.parametrize("streamed", [False, True])
def test_the_asynchronous_client_is_refused_alike(server, agent, streamed):
    async def ask(client):
        if not streamed:
            return await client.messages.create(**ASK, messages=[QUESTION])
        async with client.messages.stream(**ASK, messages=[QUESTION]) as stream:
            return await stream.get_final_message()

    async def run():
        transport = AsyncCountingTransport()
        async with anthropic.AsyncAnthropic(
            api_key="sk-test",
            base_url=f"{server.proxy}/agents/{agent}/anthropic",
            http_client=httpx.AsyncClient(transport=transport),
        ) as client:
            for _ in range(5):
                await ask(client)
            seen = server.seen()
            with pytest.raises(anthropic.BadRequestError) as refusal:
                await ask(client)
        assert transport.requests == 6, "the SDK must not try again"
        assert server.seen() == seen, "the refused call must not reach the provider"
        assert agent in str(refusal.value) and "deactivated" in str(refusal.value)

    asyncio.run(run())
