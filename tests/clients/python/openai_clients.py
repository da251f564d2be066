"""The OpenAI SDK: chat, responses and completions, and its asynchronous twin."""

import asyncio
import json
import os

import openai

#: An agent key, where a test gives one.
KEY = os.environ.get("CLIENT_KEY", "sk-test")


class Chat:
    def __init__(self, base):
        self.client = openai.OpenAI(api_key=KEY, base_url=f"{base}/openai/v1")

    def ask(self, task):
        client = self.client.with_options(timeout=task.timeout)
        messages = [{"role": "user", "content": task.question}]
        answer = client.chat.completions.create(model=task.model, messages=messages, stream=task.stream)
        if not task.stream:
            return answer.choices[0].message.content
        return [chunk.choices[0].delta.content or "" for chunk in answer if chunk.choices]

    def use_tool(self, task):
        messages = [{"role": "user", "content": task.question}]
        asked = {"model": task.model, "messages": messages, "tools": [{"type": "function", "function": task.tool}]}
        if task.stream:
            with self.client.chat.completions.stream(**asked) as stream:
                message = stream.get_final_completion().choices[0].message
        else:
            message = self.client.chat.completions.create(**asked).choices[0].message
        call = message.tool_calls[0]
        messages.append(message.model_dump(include={"role", "content", "tool_calls"}))
        messages.append({"role": "tool", "tool_call_id": call.id, "content": task.result})
        said = self.client.chat.completions.create(**asked).choices[0].message.content
        return {"tool": call.function.name, "arguments": json.loads(call.function.arguments), "said": said}

    def side_calls(self, task):
        assert self.client.models.list().data
        assert len(self.client.embeddings.create(model=task.model, input=task.question).data[0].embedding) == 4
        return 2


class AsyncChat:
    def __init__(self, base):
        self.client = openai.AsyncOpenAI(api_key=KEY, base_url=f"{base}/openai/v1")
        self.runner = asyncio.Runner()

    def ask(self, task):
        return self.runner.run(self.ask_async(task))

    async def ask_async(self, task):
        messages = [{"role": "user", "content": task.question}]
        answer = await self.client.chat.completions.create(model=task.model, messages=messages, stream=task.stream)
        if not task.stream:
            return answer.choices[0].message.content
        return [chunk.choices[0].delta.content or "" async for chunk in answer if chunk.choices]


class Responses:
    def __init__(self, base):
        self.client = openai.OpenAI(api_key=KEY, base_url=f"{base}/openai/v1")

    def ask(self, task):
        answer = self.client.responses.create(model=task.model, input=task.question, stream=task.stream)
        if not task.stream:
            return answer.output_text
        return [event.delta for event in answer if event.type == "response.output_text.delta"]

    def use_tool(self, task):
        items = [{"role": "user", "content": task.question}]
        asked = {"model": task.model, "input": items, "tools": [{"type": "function", "strict": False} | task.tool]}
        if task.stream:
            with self.client.responses.stream(**asked) as stream:
                response = stream.get_final_response()
        else:
            response = self.client.responses.create(**asked)
        call = response.output[0]
        items.append({"type": "function_call", "call_id": call.call_id, "name": call.name, "arguments": call.arguments})
        items.append({"type": "function_call_output", "call_id": call.call_id, "output": task.result})
        said = self.client.responses.create(**asked).output_text
        return {"tool": call.name, "arguments": json.loads(call.arguments), "said": said}

    def side_calls(self, task):
        assert self.client.responses.input_tokens.count(model=task.model, input=task.question).input_tokens
        return 1


class ResponsesChain(Responses):
    """Sends only what is new and names the response that it follows."""

    def use_tool(self, task):
        asked = {"model": task.model, "tools": [{"type": "function", "strict": False} | task.tool]}
        first = self.client.responses.create(input=task.question, **asked)
        call = first.output[0]
        result = {"type": "function_call_output", "call_id": call.call_id, "output": task.result}
        answer = self.client.responses.create(input=[result], previous_response_id=first.id, **asked)
        assert answer.previous_response_id == first.id
        return {"tool": call.name, "arguments": json.loads(call.arguments), "said": answer.output_text}


class AsyncResponses:
    def __init__(self, base):
        self.client = openai.AsyncOpenAI(api_key=KEY, base_url=f"{base}/openai/v1")
        self.runner = asyncio.Runner()

    def ask(self, task):
        return self.runner.run(self.ask_async(task))

    async def ask_async(self, task):
        answer = await self.client.responses.create(model=task.model, input=task.question, stream=task.stream)
        if not task.stream:
            return answer.output_text
        return [event.delta async for event in answer if event.type == "response.output_text.delta"]


class Completions:
    def __init__(self, base):
        self.client = openai.OpenAI(api_key=KEY, base_url=f"{base}/openai/v1")

    def ask(self, task):
        answer = self.client.completions.create(model=task.model, prompt=task.question, stream=task.stream)
        return [chunk.choices[0].text for chunk in answer] if task.stream else answer.choices[0].text


CLIENTS = {
    "openai-chat": Chat,
    "openai-chat-async": AsyncChat,
    "openai-responses": Responses,
    "openai-responses-chain": ResponsesChain,
    "openai-responses-async": AsyncResponses,
    "openai-completions": Completions,
}
