import type * as z from "zod";
import type { AgentToolContext } from "./runtime/agent/agent-tool-context.ts";
import type { PromptSection } from "./runtime/context/context-builder.ts";
import type { AgentHooks, Middleware } from "./runtime/loop/hooks.ts";
import { findModel } from "./runtime/model/model-directory.ts";
import type { ProviderKey } from "./runtime/model/model-directory.ts";
import type { ModelProvider } from "./runtime/model/model-provider.ts";
import type { AiBinding } from "./runtime/model/workers-ai/workers-ai-provider.ts";
import type { CodecName, ModelCompat } from "./runtime/protocol/agent-definition.ts";
import { DEFAULT_LIMITS } from "./runtime/protocol/limits.ts";
import type { Limits } from "./runtime/protocol/limits.ts";
import type { ModelPrices } from "./runtime/protocol/model-price.ts";
import type { Tool } from "./runtime/tool/tool.ts";
import { createAskUserTool } from "./tools/ask-user.ts";
import { createBashTool } from "./tools/bash/bash.ts";
import { builtinToolPrompts } from "./tools/builtin-tool-prompts.ts";
import { createBuiltinTools } from "./tools/builtin-tools.ts";
import { createRecallIndexedTool } from "./tools/recall-indexed.ts";

/** The settings of the environment that models need. */
export interface ModelEnvironment {
  readonly OPENAI_API_KEY?: string;
  readonly OPENAI_BASE_URL?: string;
  readonly OPENAI_MODEL?: string;
  /** The binding to Workers AI, for models named `workers-ai/<model name>`. */
  readonly AI?: AiBinding;
  /** `chat` or `responses`. @default "chat" */
  readonly OPENAI_DIALECT?: string;
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
  /** In what the servers of the deployment's own models differ from OpenAI's, by model id. */
  readonly compat: Readonly<Record<string, ModelCompat>>;
  /** What models cost, by model id, in US dollars per million tokens; an agent's definition goes before it. */
  readonly prices: ModelPrices;
  /** How models call tools that cannot by themselves, by model id; an agent's definition goes before it. */
  readonly codecs: Readonly<Record<string, CodecName>>;
  /**
   * @param provider the tenant's own provider of a name
   * @throws LightAgentError `invalid_request` for an unknown id, `not_configured` when a setting is missing
   */
  model(
    id: string,
    environment: ModelEnvironment,
    provider?: (name: string) => ProviderKey | undefined,
  ): ModelProvider;
}

/** Without being able to see results again, an agent would not be relieved of old ones. */
const defaultTools = [...createBuiltinTools(), createRecallIndexedTool()];

/** The file that a fork edits: add tools, models, prompts, hooks; change limits. */
export const deployment: Deployment = {
  limits: DEFAULT_LIMITS,
  // An agent has to name `bash` and `ask_user` to have them.
  tools: [...defaultTools, createBashTool(), createAskUserTool()],
  defaultTools: defaultTools.map(({ name }) => name),
  prompts: builtinToolPrompts,
  hooks: {},
  middleware: [],
  defaultModel: ({ OPENAI_API_KEY, OPENAI_MODEL }) =>
    OPENAI_API_KEY ? `openai/${OPENAI_MODEL || "gpt-4.1"}` : "demo",
  compat: {},
  prices: {},
  codecs: {},
  model: (id, { OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_DIALECT, AI }, provider) =>
    findModel(id, {
      openaiApiKey: OPENAI_API_KEY,
      openaiBaseUrl: OPENAI_BASE_URL,
      openaiDialect: OPENAI_DIALECT,
      ai: AI,
      compat: deployment.compat[id],
      provider,
    }),
};
