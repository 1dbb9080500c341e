import * as z from "zod";
import { DEFAULT_LIMITS } from "./limits.ts";
import { modelPriceSchema } from "./model-price.ts";
import { policyDefinitionSchema } from "./policy-definition.ts";

/** A named piece of the system prompt. */
export const promptSectionSchema = z.strictObject({
  name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/),
  content: z.string().max(64 * 1024),
});

/** Tokens that one turn, or one session over its life, may use; the turn that reaches a bound ends with `budget`. */
export const budgetSchema = z.strictObject({
  turnTokens: z.int().positive().optional(),
  sessionTokens: z.int().positive().optional(),
});
export type Budget = z.infer<typeof budgetSchema>;

/** How a model calls tools: by itself, or by a JSON object or lines of text for a model that cannot. */
export const codecNameSchema = z.enum(["native", "json", "react"]);
export type CodecName = z.infer<typeof codecNameSchema>;

/** Which of OpenAI's wire formats a provider speaks: Chat Completions, or Responses. */
export const dialectSchema = z.enum(["chat", "responses"]);
export type Dialect = z.infer<typeof dialectSchema>;

/** In what a server differs from OpenAI's. */
export const modelCompatSchema = z.strictObject({
  /** Sends the model's reasoning back in this field: some thinking models demand it after a tool call. */
  reasoningField: z.enum(["reasoning_content", "reasoning"]).exactOptional(),
  /** Takes the stream's end for the reply's end: old servers send no finish reason. A cut stream then passes too. */
  allowMissingFinishReason: z.boolean().exactOptional(),
});
export type ModelCompat = z.infer<typeof modelCompatSchema>;

/** A model that may serve an agent. */
export const modelRouteSchema = z.strictObject({
  name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/),
  model: z.string().min(1).max(200),
  codec: codecNameSchema.optional(),
  /** Tokens of its context window: what overflows another's goes on only to a larger one. */
  windowTokens: z.int().positive().optional(),
  /** It may take over what another model's content filter withheld. */
  afterContentFilter: z.boolean().optional(),
});
export type ModelRouteDefinition = z.infer<typeof modelRouteSchema>;

/** What the agent's answers have to be: JSON that fits the JSON Schema of an object or a list. */
const outputDefinitionSchema = z.strictObject({ schema: z.record(z.string(), z.unknown()) });

/** A skill of the tenant's library by its name, or a SKILL.md itself. */
const agentSkillSchema = z.union([
  z.string().regex(/^[a-z0-9-]{1,64}$/),
  z.strictObject({ content: z.string().max(DEFAULT_LIMITS.skillBytes) }),
]);

/** What a tenant defines and a session pins: each change is a new version. */
export const agentDefinitionSchema = z.strictObject({
  name: z.string().min(1).max(200).optional(),
  /** A model id, or the name of a route; without it the first route, or the deployment's default. */
  model: z.string().min(1).max(200).optional(),
  /** Models that serve in turn: `model` first, by a route's name or as a model of its own, then these in order. */
  routes: z.array(modelRouteSchema).max(10).optional(),
  /** What models cost, by their ids; what the deployment says without it. Where nobody says, nothing is reckoned. */
  prices: z.record(z.string().min(1).max(200), modelPriceSchema).optional(),
  /** How the agent's model calls tools; what the deployment says of the model without it. */
  codec: codecNameSchema.optional(),
  prompts: z.array(promptSectionSchema).max(50).optional(),
  /** Names of tools; all built-in file tools without it. */
  tools: z.array(z.string().min(1).max(64)).max(200).optional(),
  /** Which calls of tools run, wait for a person, or are refused; all run without it. */
  policy: policyDefinitionSchema.optional(),
  /** What it can load instructions of for certain kinds of tasks. What cannot be used is left out, and said. */
  skills: z.array(agentSkillSchema).max(DEFAULT_LIMITS.agentSkills).optional(),
  /** Whether the skills in the workspace's folder `.skills` count too. Who writes there writes into its prompt. */
  workspaceSkills: z.boolean().optional(),
  /** Whether it keeps memories of its users, finds them again, and is reminded of them when a turn begins. */
  memory: z.boolean().optional(),
  /** Makes every final answer JSON that fits a schema. */
  output: outputDefinitionSchema.optional(),
  /** Tokens of its model's context window; the conversation is summarised before it grows beyond. */
  windowTokens: z.int().min(1_000).max(10_000_000).optional(),
  maxSteps: z.int().min(1).max(1_000).optional(),
  budget: budgetSchema.optional(),
});
export type AgentDefinition = z.infer<typeof agentDefinitionSchema>;
