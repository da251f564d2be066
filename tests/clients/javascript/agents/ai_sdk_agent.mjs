// The agent of the Vercel AI SDK.

import { openai } from "@ai-sdk/openai";
import { ToolLoopAgent, stepCountIs, tool } from "ai";

import { INSTRUCTIONS, MODEL, MOST_STEPS, TOOLS } from "./workspace_tools.mjs";

const described = ([name, { description, schema, execute }]) => [
  name,
  tool({ description, inputSchema: schema, execute }),
];
const agent = new ToolLoopAgent({
  model: openai(MODEL),
  instructions: INSTRUCTIONS,
  tools: Object.fromEntries(Object.entries(TOOLS).map(described)),
  stopWhen: stepCountIs(MOST_STEPS),
});
console.log((await agent.generate({ prompt: process.argv[2] })).text);
