"""Ollama's own client: chat and generate."""

import ollama


class Chat:
    def __init__(self, base):
        self.client = ollama.Client(host=f"{base}/ollama")

    def ask(self, task):
        messages = [{"role": "user", "content": task.question}]
        answer = self.client.chat(model=task.model, messages=messages, stream=task.stream)
        return [piece.message.content for piece in answer] if task.stream else answer.message.content

    def use_tool(self, task):
        messages = [{"role": "user", "content": task.question}]
        asked = {"model": task.model, "messages": messages, "tools": [{"type": "function", "function": task.tool}]}
        if task.stream:
            message = next(iter(self.client.chat(**asked, stream=True))).message
        else:
            message = self.client.chat(**asked).message
        call = message.tool_calls[0].function
        messages += [message, {"role": "tool", "tool_name": call.name, "content": task.result}]
        said = self.client.chat(**asked).message.content
        return {"tool": call.name, "arguments": call.arguments, "said": said}

    def side_calls(self, task):
        assert self.client.list().models
        assert self.client.show(task.model).capabilities
        assert self.client.embed(model=task.model, input=task.question).embeddings
        return 3


class Generate:
    def __init__(self, base):
        self.client = ollama.Client(host=f"{base}/ollama")

    def ask(self, task):
        answer = self.client.generate(model=task.model, prompt=task.question, stream=task.stream)
        return [piece.response for piece in answer] if task.stream else answer.response


CLIENTS = {"ollama-chat": Chat, "ollama-generate": Generate}
