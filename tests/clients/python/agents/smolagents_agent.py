"""smolagents with tool calls, or with code if the first argument says so."""

import os
import sys

from smolagents import CodeAgent, OpenAIServerModel, ToolCallingAgent, tool
from workspace_tools import INSTRUCTIONS, MODEL, MOST_STEPS, TOOLS

kind, prompt = sys.argv[1:]
model = OpenAIServerModel(MODEL, api_base=os.environ["OPENAI_BASE_URL"], api_key=os.environ["OPENAI_API_KEY"])
make = CodeAgent if kind == "code" else ToolCallingAgent
agent = make(tools=[tool(function) for function in TOOLS], model=model, instructions=INSTRUCTIONS, max_steps=MOST_STEPS)
print(agent.run(prompt))
