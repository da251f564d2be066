"""Pydantic AI."""

import sys

from pydantic_ai import Agent
from pydantic_ai.usage import UsageLimits
from workspace_tools import INSTRUCTIONS, MODEL, MOST_STEPS, TOOLS

agent = Agent(f"openai-chat:{MODEL}", instructions=INSTRUCTIONS, tools=TOOLS)
print(agent.run_sync(sys.argv[1], usage_limits=UsageLimits(request_limit=MOST_STEPS)).output)
