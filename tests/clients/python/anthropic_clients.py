"""The Anthropic SDK and its asynchronous twin."""

import asyncio
import os

import anthropic

#: An agent key, where a test gives one.
KEY = os.environ.get("CLIENT_KEY", "sk-test")

LIMIT = {"max_tokens": 256}


class Messages:
    def __init__(self, base):
        self.client = anthropic.Anthropic(api_key=KEY, base_url=f"{base}/anthropic")

    def ask(self, task):
        client = self.client.with_options(timeout=task.timeout)
        asked = {"model": task.model, "messages": [{"role": "user", "content": task.question}], **LIMIT}
        if not task.stream:
            return client.messages.create(**asked).content[0].text
        with client.messages.stream(**asked) as stream:
            return list(stream.text_stream)

    def use_tool(self, task):
        messages = [{"role": "user", "content": task.question}]
        tool = {"name": task.tool["name"], "description": task.tool["description"], "input_schema": task.tool["parameters"]}
        asked = {"model": task.model, "messages": messages, "tools": [tool], **LIMIT}
        if task.stream:
            with self.client.messages.stream(**asked) as stream:
                message = stream.get_final_message()
        else:
            message = self.client.messages.create(**asked)
        call = message.content[0]
        result = {"type": "tool_result", "tool_use_id": call.id, "content": task.result}
        messages += [{"role": "assistant", "content": message.content}, {"role": "user", "content": [result]}]
        said = self.client.messages.create(**asked).content[0].text
        return {"tool": call.name, "arguments": call.input, "said": said}

    def side_calls(self, task):
        messages = [{"role": "user", "content": task.question}]
        assert self.client.models.list().data
        assert self.client.messages.count_tokens(model=task.model, messages=messages).input_tokens
        return 2


class AsyncMessages:
    def __init__(self, base):
        self.client = anthropic.AsyncAnthropic(api_key=KEY, base_url=f"{base}/anthropic")
        self.runner = asyncio.Runner()

    def ask(self, task):
        return self.runner.run(self.ask_async(task))

    async def ask_async(self, task):
        asked = {"model": task.model, "messages": [{"role": "user", "content": task.question}], **LIMIT}
        if not task.stream:
            return (await self.client.messages.create(**asked)).content[0].text
        async with self.client.messages.stream(**asked) as stream:
            return [text async for text in stream.text_stream]


CLIENTS = {"anthropic": Messages, "anthropic-async": AsyncMessages}
