import type * as z from "zod";
import type { AgentToolContext } from "./runtime/agent/agent-tool-context.ts";
import type { PromptSection } from "./runtime/context/context-builder.ts";
import type { AgentHooks, Middleware } from "./runtime/loop/hooks.ts";
import { findModel } from "./runtime/model/model-directory.ts";
import type { ModelProvider } from "./runtime/model/model-provider.ts";
import { DEFAULT_LIMITS } from "./runtime/protocol/limits.ts";
import type { Limits } from "./runtime/protocol/limits.ts";
import type { Tool } from "./runtime/tool/tool.ts";
import { createAskUserTool } from "./tools/ask-user.ts";
import { builtinToolPrompts } from "./tools/builtin-tool-prompts.ts";
import { createBuiltinTools } from "./tools/builtin-tools.ts";

/** The settings of the environment that models need. */
export interface ModelEnvironment {
  readonly OPENAI_API_KEY?: string;
  readonly OPENAI_BASE_URL?: string;
  readonly OPENAI_MODEL?: string;
}

/** What this deployment offers to its tenants. */
export interface Deployment {
  readonly limits: Limits;
  /** Every tool that an agent may name. */
  readonly tools: readonly Tool<z.ZodObject, AgentToolContext>[];
  /** Names of the tools of an agent that names none. */
  readonly defaultTools: readonly string[];
  /** What every agent's system prompt begins with. */
  readonly prompts: readonly PromptSection[];
  readonly hooks: AgentHooks;
  readonly middleware: readonly Middleware[];
  /** The model of agents that name none. */
  defaultModel(environment: ModelEnvironment): string;
  /** @throws LightAgentError `invalid_request` for an unknown id, `not_configured` when a setting is missing */
  model(id: string, environment: ModelEnvironment): ModelProvider;
}

const fileTools = createBuiltinTools();

/** The file that a fork edits: add tools, models, prompts, hooks; change limits. */
export const deployment: Deployment = {
  limits: DEFAULT_LIMITS,
  tools: [...fileTools, createAskUserTool()],
  defaultTools: fileTools.map(({ name }) => name),
  prompts: builtinToolPrompts,
  hooks: {},
  middleware: [],
  defaultModel: ({ OPENAI_API_KEY, OPENAI_MODEL }) =>
    OPENAI_API_KEY ? `openai/${OPENAI_MODEL || "gpt-4.1"}` : "demo",
  model: (id, { OPENAI_API_KEY, OPENAI_BASE_URL }) =>
    findModel(id, { openaiApiKey: OPENAI_API_KEY, openaiBaseUrl: OPENAI_BASE_URL }),
};
