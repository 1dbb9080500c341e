import * as z from "zod";
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

/** What a tenant defines and a session pins: each change is a new version. */
export const agentDefinitionSchema = z.strictObject({
  name: z.string().min(1).max(200).optional(),
  /** `demo` or `openai/<model name>`; the deployment's default without it. */
  model: z.string().min(1).max(200).optional(),
  prompts: z.array(promptSectionSchema).max(50).optional(),
  /** Names of tools; all built-in file tools without it. */
  tools: z.array(z.string().min(1).max(64)).max(200).optional(),
  /** Which calls of tools run, wait for a person, or are refused; all run without it. */
  policy: policyDefinitionSchema.optional(),
  maxSteps: z.int().min(1).max(1_000).optional(),
  budget: budgetSchema.optional(),
});
export type AgentDefinition = z.infer<typeof agentDefinitionSchema>;
