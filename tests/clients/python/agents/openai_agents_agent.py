"""OpenAI Agents SDK."""

import sys

from agents import Agent, Runner, function_tool, set_tracing_disabled
from workspace_tools import INSTRUCTIONS, MODEL, MOST_STEPS, TOOLS

set_tracing_disabled(True)
agent = Agent(name="engineer", instructions=INSTRUCTIONS, model=MODEL, tools=[function_tool(tool) for tool in TOOLS])
print(Runner.run_sync(agent, sys.argv[1], max_turns=MOST_STEPS).final_output)
