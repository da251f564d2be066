"""The clients of the matrix: which driver runs them, and what they can do."""

import dataclasses
import os
import pathlib

HERE = pathlib.Path(__file__).parent
TARGET = pathlib.Path(os.environ["AGENTGAZER_CLIENTS"])

SDKS = ["openai_clients", "anthropic_clients", "google_clients", "ollama_clients"]
FRAMEWORKS = ["litellm_clients", "langchain_clients"]

# Each with a set of packages of its own: LiteLLM wants an older OpenAI SDK than the newest.
DRIVERS = {
    "python": [TARGET / "sdks/bin/python", HERE / "python/driver.py", *SDKS],
    "frameworks": [TARGET / "frameworks/bin/python", HERE / "python/driver.py", *FRAMEWORKS],
    "javascript": [TARGET / "sdks/bin/node", TARGET / "javascript/driver.mjs"],
}


@dataclasses.dataclass(frozen=True)
class Client:
    """One client; its name is the one its driver knows it by."""

    driver: str
    name: str
    #: The provider in its base URL.
    provider: str
    #: Whether it can call tools.
    tools: bool = True
    #: Whether it has side calls of its own: models, embeddings, token counts.
    side_calls: bool = False
    #: Whether it takes a timeout and tries again after it.
    timeouts: bool = False

    @property
    def id(self) -> str:
        return f"{self.driver}-{self.name}"


CLIENTS = [
    Client("python", "openai-chat", "openai", side_calls=True, timeouts=True),
    Client("python", "openai-chat-async", "openai", tools=False),
    Client("python", "openai-responses", "openai", side_calls=True),
    Client("python", "openai-responses-chain", "openai"),
    Client("python", "openai-responses-async", "openai", tools=False),
    Client("python", "openai-completions", "openai", tools=False),
    Client("python", "anthropic", "anthropic", side_calls=True, timeouts=True),
    Client("python", "anthropic-async", "anthropic", tools=False),
    Client("python", "google-genai", "google", side_calls=True),
    Client("python", "google-genai-async", "google", tools=False),
    Client("python", "ollama-chat", "ollama", side_calls=True),
    Client("python", "ollama-generate", "ollama", tools=False),
    Client("frameworks", "litellm-openai", "openai"),
    Client("frameworks", "litellm-anthropic", "anthropic"),
    Client("frameworks", "litellm-gemini", "google"),
    Client("frameworks", "litellm-ollama", "ollama"),
    Client("frameworks", "langchain-openai", "openai"),
    Client("frameworks", "langchain-openai-responses", "openai"),
    Client("frameworks", "langchain-anthropic", "anthropic"),
    Client("frameworks", "langchain-google-genai", "google"),
    Client("frameworks", "langchain-ollama", "ollama"),
    Client("javascript", "openai-chat", "openai", side_calls=True, timeouts=True),
    Client("javascript", "openai-responses", "openai", side_calls=True),
    Client("javascript", "openai-completions", "openai", tools=False),
    Client("javascript", "anthropic", "anthropic", side_calls=True, timeouts=True),
    Client("javascript", "google-genai", "google", side_calls=True),
    Client("javascript", "ollama-chat", "ollama", side_calls=True),
    Client("javascript", "ollama-generate", "ollama", tools=False),
    Client("javascript", "langchain-openai", "openai"),
    Client("javascript", "langchain-openai-responses", "openai"),
    Client("javascript", "langchain-anthropic", "anthropic"),
    Client("javascript", "langchain-google-genai", "google"),
    Client("javascript", "langchain-ollama", "ollama"),
    Client("javascript", "ai-openai", "openai"),
    Client("javascript", "ai-openai-chat", "openai"),
    Client("javascript", "ai-anthropic", "anthropic"),
]
