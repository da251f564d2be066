"""LiteLLM in front of each format."""

import functools
import json

import litellm


@functools.cache
def know(model):
    """Tells LiteLLM about a model. Else it asks Ollama, now and then: requests that the tests would take for retries."""
    about = {"litellm_provider": "ollama", "mode": "chat", "supports_function_calling": True}
    litellm.register_model({f"ollama/{model}": about})


class Completion:
    def __init__(self, provider, path, base):
        self.asked = functools.partial(litellm.completion, api_base=base + path, api_key="sk-test")
        self.provider = provider

    def complete(self, task, messages, **more):
        if self.provider == "ollama_chat":
            know(task.model)
        return self.asked(model=f"{self.provider}/{task.model}", messages=messages, **more)

    def ask(self, task):
        answer = self.complete(task, [{"role": "user", "content": task.question}], stream=task.stream)
        if not task.stream:
            return answer.choices[0].message.content
        return [chunk.choices[0].delta.content or "" for chunk in answer]

    def use_tool(self, task):
        messages = [{"role": "user", "content": task.question}]
        tools = [{"type": "function", "function": task.tool}]
        answer = self.complete(task, messages, tools=tools, stream=task.stream)
        if task.stream:
            answer = litellm.stream_chunk_builder(list(answer), messages=messages)
        message = answer.choices[0].message
        call = message.tool_calls[0]
        messages += [message.model_dump(), {"role": "tool", "tool_call_id": call.id, "content": task.result}]
        said = self.complete(task, messages, tools=tools).choices[0].message.content
        return {"tool": call.function.name, "arguments": json.loads(call.function.arguments), "said": said}


CLIENTS = {
    "litellm-openai": functools.partial(Completion, "openai", "/openai/v1"),
    "litellm-anthropic": functools.partial(Completion, "anthropic", "/anthropic"),
    "litellm-gemini": functools.partial(Completion, "gemini", "/google/v1beta"),
    "litellm-ollama": functools.partial(Completion, "ollama_chat", "/ollama"),
}
