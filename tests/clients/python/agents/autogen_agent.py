"""AutoGen's assistant agent."""

import asyncio
import sys

from autogen_agentchat.agents import AssistantAgent
from autogen_core.models import ModelFamily
from autogen_ext.models.openai import OpenAIChatCompletionClient
from workspace_tools import INSTRUCTIONS, MODEL, MOST_STEPS, TOOLS

ABILITIES = {
    "vision": False,
    "function_calling": True,
    "json_output": True,
    "structured_output": True,
    "family": ModelFamily.UNKNOWN,
}


async def main() -> None:
    client = OpenAIChatCompletionClient(model=MODEL, model_info=ABILITIES)
    agent = AssistantAgent(
        "engineer", client, tools=TOOLS, system_message=INSTRUCTIONS, max_tool_iterations=MOST_STEPS
    )
    result = await agent.run(task=sys.argv[1])
    print(result.messages[-1].content)


asyncio.run(main())
