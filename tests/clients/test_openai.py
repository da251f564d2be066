"""The official OpenAI SDK, unchanged but for its base URL."""

import asyncio
import json

import httpx2 as httpx
import openai
import pytest
from conftest import AsyncCountingTransport

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "read_file",
            "description": "Read a file",
            "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
        },
    }
]
QUESTION = {"role": "user", "content": "What does the importer do with an empty row?"}


@pytest.fixture
def client(server, agent, transport):
    return openai.OpenAI(
        api_key="sk-test",
        base_url=f"{server.proxy}/agents/{agent}/openai/v1",
        http_client=httpx.Client(transport=transport),
    )


def test_a_call_is_answered(client, server, agent):
    response = client.chat.completions.with_raw_response.create(model="gpt-test", messages=[QUESTION])
    assert response.parse().choices[0].message.content
    assert response.headers["x-agentgazer-loop-score"] == "0.0/10.0"
    event = server.event(response.headers["x-agentgazer-request-id"])
    assert (event["agent_id"], event["model"], event["status_code"]) == (agent, "gpt-test", 200)
    assert event["tokens_in"] > 0 and event["tokens_out"] > 0


def test_a_stream_is_answered(client):
    stream = client.chat.completions.create(model="gpt-test", messages=[QUESTION], stream=True)
    pieces = [chunk.choices[0].delta.content for chunk in stream if chunk.choices]
    assert len([piece for piece in pieces if piece]) > 1


@pytest.mark.parametrize("streamed", [False, True])
def test_tools_are_called_and_answered(client, streamed):
    messages = [QUESTION]
    call = ask_for_tool_call(client, messages, streamed)
    assert call.function.name == "read_file"
    json.loads(call.function.arguments)
    messages += [
        {"role": "assistant", "tool_calls": [{"id": call.id, "type": "function", "function": {
            "name": call.function.name, "arguments": call.function.arguments}}]},
        {"role": "tool", "tool_call_id": call.id, "content": "fn import(row) { skip_if_empty(row) }"},
    ]
    answer = client.chat.completions.create(model="gpt-test", messages=messages, tools=TOOLS)
    assert answer.choices[0].message.content


def ask_for_tool_call(client, messages, streamed):
    if not streamed:
        response = client.chat.completions.create(model="gpt-test", messages=messages, tools=TOOLS)
        return response.choices[0].message.tool_calls[0]
    with client.chat.completions.stream(model="gpt-test", messages=messages, tools=TOOLS) as stream:
        for _ in stream:
            pass
        return stream.get_final_completion().choices[0].message.tool_calls[0]


@pytest.mark.parametrize("streamed", [False, True])
def test_the_refusal_is_one_readable_exception_after_one_request(client, server, agent, transport, streamed):
    def ask():
        answer = client.chat.completions.create(model="gpt-test", messages=[QUESTION], stream=streamed)
        return list(answer) if streamed else answer

    for _ in range(5):
        ask()
    sent, seen = transport.requests, server.seen()
    with pytest.raises(openai.BadRequestError) as refusal:
        ask()
    assert transport.requests == sent + 1, "the SDK must not try again"
    assert server.seen() == seen, "the refused call must not reach the provider"
    assert agent in str(refusal.value) and "deactivated" in str(refusal.value)
    assert refusal.value.body["code"] == "agent_deactivated"
    assert server.api("GET", f"/api/agents/{agent}")["deactivated_by"] == "kill_switch"

    with pytest.raises(openai.BadRequestError):
        ask()
    assert transport.requests == sent + 2
    server.api("PATCH", f"/api/agents/{agent}", {"active": True})
    ask()


@pytest.mark.parametrize("streamed", [False, True])
def test_the_asynchronous_client_is_refused_alike(server, agent, streamed):
    async def ask(client):
        answer = await client.chat.completions.create(model="gpt-test", messages=[QUESTION], stream=streamed)
        return [chunk async for chunk in answer] if streamed else answer

    async def run():
        transport = AsyncCountingTransport()
        async with openai.AsyncOpenAI(
            api_key="sk-test",
            base_url=f"{server.proxy}/agents/{agent}/openai/v1",
            http_client=httpx.AsyncClient(transport=transport),
        ) as client:
            for _ in range(5):
                await ask(client)
            seen = server.seen()
            with pytest.raises(openai.BadRequestError) as refusal:
                await ask(client)
        assert transport.requests == 6, "the SDK must not try again"
        assert server.seen() == seen, "the refused call must not reach the provider"
        assert agent in str(refusal.value) and "deactivated" in str(refusal.value)

    asyncio.run(run())
