"""LangChain's chat models for each format."""

import functools

from langchain_anthropic import ChatAnthropic
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_google_genai import ChatGoogleGenerativeAI
from langchain_ollama import ChatOllama
from langchain_openai import ChatOpenAI


class ChatModel:
    def __init__(self, make, base):
        self.make = functools.partial(make, base)

    def ask(self, task):
        model = self.make(task.model)
        if not task.stream:
            return model.invoke([HumanMessage(task.question)]).text
        return [chunk.text for chunk in model.stream([HumanMessage(task.question)])]

    def use_tool(self, task):
        model = self.make(task.model).bind_tools([{"type": "function", "function": task.tool}])
        messages = [HumanMessage(task.question)]
        if task.stream:
            chunks = list(model.stream(messages))
            message = sum(chunks[1:], chunks[0])
        else:
            message = model.invoke(messages)
        call = message.tool_calls[0]
        messages += [message, ToolMessage(task.result, tool_call_id=call["id"], name=call["name"])]
        return {"tool": call["name"], "arguments": call["args"], "said": model.invoke(messages).text}


def openai(base, model):
    return ChatOpenAI(model=model, base_url=f"{base}/openai/v1", api_key="sk-test")


def openai_responses(base, model):
    return ChatOpenAI(model=model, base_url=f"{base}/openai/v1", api_key="sk-test", use_responses_api=True)


def anthropic(base, model):
    return ChatAnthropic(model=model, base_url=f"{base}/anthropic", api_key="sk-test")


def google(base, model):
    return ChatGoogleGenerativeAI(model=model, base_url=f"{base}/google", api_key="test")


def ollama(base, model):
    return ChatOllama(model=model, base_url=f"{base}/ollama")


CLIENTS = {
    "langchain-openai": functools.partial(ChatModel, openai),
    "langchain-openai-responses": functools.partial(ChatModel, openai_responses),
    "langchain-anthropic": functools.partial(ChatModel, anthropic),
    "langchain-google-genai": functools.partial(ChatModel, google),
    "langchain-ollama": functools.partial(ChatModel, ollama),
}
