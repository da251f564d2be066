"""Google's Agent Development Kit."""

import asyncio
import sys

from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig
from google.adk.runners import InMemoryRunner
from google.genai import types
from workspace_tools import INSTRUCTIONS, MOST_STEPS, TOOLS


async def main() -> None:
    agent = LlmAgent(name="engineer", model="gemini-3.1-pro-preview", instruction=INSTRUCTIONS, tools=TOOLS)
    runner = InMemoryRunner(agent, app_name="engineer")
    session = await runner.session_service.create_session(app_name="engineer", user_id="user")
    asked = types.Content(role="user", parts=[types.Part(text=sys.argv[1])])
    config = RunConfig(max_llm_calls=MOST_STEPS)
    async for event in runner.run_async(
        user_id="user", session_id=session.id, new_message=asked, run_config=config
    ):
        for part in event.content.parts if event.content else []:
            if part.text:
                print(part.text)


asyncio.run(main())
