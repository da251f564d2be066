"""LlamaIndex' function agent."""

import asyncio
import os
import sys

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.llms.openai_like import OpenAILike
from workspace_tools import INSTRUCTIONS, MODEL, MOST_STEPS, TOOLS


async def main() -> None:
    llm = OpenAILike(
        MODEL,
        api_base=os.environ["OPENAI_BASE_URL"],
        api_key=os.environ["OPENAI_API_KEY"],
        is_chat_model=True,
        is_function_calling_model=True,
    )
    agent = FunctionAgent(tools=TOOLS, llm=llm, system_prompt=INSTRUCTIONS)
    print(await agent.run(sys.argv[1], max_iterations=MOST_STEPS))


asyncio.run(main())
