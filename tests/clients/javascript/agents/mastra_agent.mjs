// An agent of Mastra.

import { createOpenAI } from "@ai-sdk/openai";
import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";

import { INSTRUCTIONS, MODEL, MOST_STEPS, TOOLS } from "./workspace_tools.mjs";

const described = ([id, { description, schema, execute }]) => [
  id,
  createTool({ id, description, inputSchema: schema, execute: async (input) => execute(input) }),
];
const openai = createOpenAI({ baseURL: process.env.OPENAI_BASE_URL, apiKey: process.env.OPENAI_API_KEY });
const agent = new Agent({
  id: "engineer",
  name: "engineer",
  instructions: INSTRUCTIONS,
  model: openai(MODEL),
  tools: Object.fromEntries(Object.entries(TOOLS).map(described)),
});
console.log((await agent.generate(process.argv[2], { maxSteps: MOST_STEPS })).text);
