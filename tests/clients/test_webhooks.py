"""Webhooks as their receivers see them: verified with the official library of Standard Webhooks."""

import http.server
import json
import queue
import threading

import pytest
from standardwebhooks.webhooks import Webhook, WebhookVerificationError


@pytest.fixture
def receiver():
    """A receiver on this machine and what it got: headers and body."""
    received = queue.Queue()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["content-length"]))
            received.put((dict(self.headers), body))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/hook", received
    finally:
        server.shutdown()


@pytest.fixture
def channel(server, receiver):
    """A webhook channel to the receiver, deleted after the test."""
    url, _ = receiver
    made = server.api("POST", "/api/channels", {"kind": "webhook", "name": "receiver", "url": url})
    yield made
    server.api("DELETE", f"/api/channels/{made['id']}")


def lower(headers):
    return {name.lower(): value for name, value in headers.items()}


def test_a_test_is_verified_by_the_official_library(server, receiver, channel):
    _, received = receiver
    delivery = server.api("POST", f"/api/channels/{channel['id']}/test", {})
    assert delivery["state"] == "delivered" and delivery["attempts"][0]["status_code"] == 204
    headers, body = received.get(timeout=10)
    message = Webhook(channel["secret"]).verify(body, lower(headers))
    assert message["type"] == "alerts.test"
    assert lower(headers)["webhook-id"] == delivery["id"]


def test_what_was_changed_on_the_way_is_refused(server, receiver, channel):
    _, received = receiver
    server.api("POST", f"/api/channels/{channel['id']}/test", {})
    headers, body = received.get(timeout=10)
    webhook = Webhook(channel["secret"])
    for wrong_headers, wrong_body in [
        (lower(headers), body.replace(b"test", b"tess")),
        (lower(headers) | {"webhook-id": "another"}, body),
        (lower(headers) | {"webhook-timestamp": "1700000000"}, body),
    ]:
        with pytest.raises(WebhookVerificationError):
            webhook.verify(wrong_body, wrong_headers)


def test_a_kill_carries_what_the_contract_says(server, agent, receiver, channel):
    import openai

    _, received = receiver
    client = openai.OpenAI(base_url=f"{server.proxy}/agents/{agent}/openai/v1", api_key="sk-test", max_retries=0)
    with pytest.raises(openai.BadRequestError) as refused:
        for _ in range(20):
            client.chat.completions.create(model="gpt-4o", messages=[{"role": "user", "content": "Fix the import."}])
    incident = refused.value.response.json()["incident_id"]
    headers, body = received.get(timeout=90)
    message = Webhook(channel["secret"]).verify(body, lower(headers))
    assert message["type"] == "agent.killed"
    data = message["data"]
    assert data["agent_id"] == agent and data["incident_id"] == incident
    assert data["score"] > data["threshold"] == 10.0 and data["window_size"] == 20
    assert set(data["signals"]) == {"similar_prompts", "similar_responses", "repeated_tool_calls"}
    assert (data["provider"], data["model"], data["action"]) == ("openai", "gpt-4o", "deactivate")
    assert data["url"].endswith(f"/incidents/{incident}")
    assert json.loads(body) == message
