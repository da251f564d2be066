"""LangGraph's prebuilt agent with LangChain's model for OpenAI."""

import sys

from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.prebuilt import create_react_agent
from workspace_tools import INSTRUCTIONS, MODEL, MOST_STEPS, TOOLS

agent = create_react_agent(ChatOpenAI(model=MODEL), [tool(function) for function in TOOLS], prompt=INSTRUCTIONS)
asked = {"messages": [("user", sys.argv[1])]}
print(agent.invoke(asked, {"recursion_limit": 2 * MOST_STEPS})["messages"][-1].text)
