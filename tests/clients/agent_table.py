"""All coding agents and agents of frameworks that the matrix has."""

from aider_agent import AIDER
from coding_agents import CODING_AGENTS
from framework_agents import FRAMEWORK_AGENTS

AGENTS = [*CODING_AGENTS, AIDER, *FRAMEWORK_AGENTS]
