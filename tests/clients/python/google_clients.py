"""Google's SDK for Gemini and its asynchronous twin."""

import asyncio
import os

from google import genai
from google.genai import types

#: An agent key, where a test gives one.
KEY = os.environ.get("CLIENT_KEY", "sk-test")


def open_client(base):
    return genai.Client(api_key=KEY, http_options=types.HttpOptions(base_url=f"{base}/google"))


class Gemini:
    def __init__(self, base):
        # Kept: a client that is dropped closes its connections.
        self.client = open_client(base)
        self.models = self.client.models

    def ask(self, task):
        if not task.stream:
            return self.models.generate_content(model=task.model, contents=task.question).text
        pieces = self.models.generate_content_stream(model=task.model, contents=task.question)
        return [piece.text for piece in pieces]

    def use_tool(self, task):
        contents = [types.Content(role="user", parts=[types.Part(text=task.question)])]
        declaration = types.FunctionDeclaration(
            name=task.tool["name"],
            description=task.tool["description"],
            parameters_json_schema=task.tool["parameters"],
        )
        config = types.GenerateContentConfig(tools=[types.Tool(function_declarations=[declaration])])
        asked = {"model": task.model, "contents": contents, "config": config}
        if task.stream:
            answer = next(iter(self.models.generate_content_stream(**asked)))
        else:
            answer = self.models.generate_content(**asked)
        call = answer.function_calls[0]
        contents.append(answer.candidates[0].content)
        result = types.Part.from_function_response(name=call.name, response={"output": task.result})
        contents.append(types.Content(role="user", parts=[result]))
        return {"tool": call.name, "arguments": call.args, "said": self.models.generate_content(**asked).text}

    def side_calls(self, task):
        assert list(self.models.list())
        assert self.models.count_tokens(model=task.model, contents=task.question).total_tokens
        assert self.models.embed_content(model=task.model, contents=task.question).embeddings
        return 3


class AsyncGemini:
    def __init__(self, base):
        self.client = open_client(base)
        self.models = self.client.aio.models
        self.runner = asyncio.Runner()

    def ask(self, task):
        return self.runner.run(self.ask_async(task))

    async def ask_async(self, task):
        if not task.stream:
            return (await self.models.generate_content(model=task.model, contents=task.question)).text
        pieces = await self.models.generate_content_stream(model=task.model, contents=task.question)
        return [piece.text async for piece in pieces]


CLIENTS = {"google-genai": Gemini, "google-genai-async": AsyncGemini}
