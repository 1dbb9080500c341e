import { deployment } from "../deployment.ts";
import type { AgentDefinitionOptions } from "../runtime/agent/agent-options.ts";
import type { AgentDefinition } from "../runtime/protocol/agent-definition.ts";
import type { Limits } from "../runtime/protocol/limits.ts";
import type { SessionMemory } from "./session-memory.ts";
import type { SessionSkills } from "./session-skills.ts";

/** What a version of an agent comes to in a session: its definition, and what the deployment, skills and memory add. */
export function definedAgent(
  definition: AgentDefinition,
  { limits, skills, memory }: { limits: Limits; skills: SessionSkills; memory: SessionMemory },
): AgentDefinitionOptions {
  const { tools = deployment.defaultTools, maxSteps, windowTokens, prompts = [], policy } = definition;
  return {
    tools: [
      ...deployment.tools.filter(({ name }) => tools.includes(name)),
      ...skills.tools(),
      ...memory.tools(),
    ],
    context: {
      prompts: [...deployment.prompts, ...prompts],
      ...(skills.offered && { skills: () => skills.set() }),
      ...(windowTokens === undefined ? {} : { windowTokens }),
    },
    prices: { ...deployment.prices, ...definition.prices },
    maxSteps: maxSteps ?? limits.stepsPerTurn,
    ...(policy ? { policy } : {}),
  };
}
