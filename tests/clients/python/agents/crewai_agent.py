"""CrewAI: one agent with one task."""

import sys

from crewai import LLM, Agent, Crew, Task
from crewai.tools import tool
from workspace_tools import INSTRUCTIONS, MODEL, MOST_STEPS, TOOLS

agent = Agent(
    role="engineer",
    goal="Do the task",
    backstory=INSTRUCTIONS,
    llm=LLM(model=f"openai/{MODEL}"),
    tools=[tool(function) for function in TOOLS],
    max_iter=MOST_STEPS,
)
task = Task(description=sys.argv[1], expected_output="A report", agent=agent)
print(Crew(agents=[agent], tasks=[task], tracing=False).kickoff())
