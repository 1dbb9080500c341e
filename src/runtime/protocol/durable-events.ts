import * as z from "zod";
import { contentSchema } from "./content.ts";
import { principalSchema } from "./principal.ts";
import { recalledMemorySchema } from "./recalled-memory.ts";
import { usageSchema } from "./usage.ts";

const count = z.int().nonnegative();
const milliseconds = z.number().nonnegative();
const argsSchema = z.record(z.string(), z.unknown());

/** Whatever a provider wants back byte for byte (signatures, item ids); opaque to everything else. */
const providerDataSchema = z.record(z.string(), z.unknown());

export const toolCallSchema = z.object({
  id: z.string(),
  name: z.string(),
  args: argsSchema,
  /** Why the model makes the call, in its own words (`_intent`). */
  intent: z.string().optional(),
  /** The raw arguments of a call that must not run because they are not a JSON object or were cut. */
  malformed: z.string().optional(),
});
export type ToolCall = z.infer<typeof toolCallSchema>;

export const artifactSchema = z.object({ ref: z.string(), size: count, mediaType: z.string() });
export type Artifact = z.infer<typeof artifactSchema>;

const replyBlock = {
  attempt: count,
  block: count,
  text: z.string(),
  interrupted: z.boolean().optional(),
  providerData: providerDataSchema.optional(),
};

/** The payload of every durable event, by type. A durable event has a `seq` and is in the log for ever. */
export const durablePayloads = {
  input: z.object({
    promptId: z.string(),
    content: contentSchema,
    source: z.enum(["user", "system", "background"]),
    by: principalSchema,
    /** What the agent remembered of the user when the turn began: the model reads it before the content. */
    memories: z.array(recalledMemorySchema).optional(),
  }),
  steer: z.object({
    promptId: z.string(),
    content: contentSchema,
    by: principalSchema,
    mode: z.enum(["steer", "follow_up"]),
  }),
  prompt_dropped: z.object({
    promptId: z.string(),
    by: principalSchema,
    reason: z.enum(["withdrawn", "cleared"]),
  }),
  interrupt: z.object({ by: principalSchema, reason: z.string().optional(), clearQueue: z.boolean() }),
  thought: z.object(replyBlock),
  /** `structured`: the text is JSON that fits the agent's output schema. */
  output: z.object({ ...replyBlock, structured: z.boolean().optional() }),
  tool_calls: z.object({ calls: z.array(toolCallSchema) }),
  agent_trace: z.object({
    model: z.string(),
    attempt: count,
    usage: usageSchema,
    /** The provider did not say what it counted. */
    estimated: z.boolean().optional(),
    finishReason: z.enum(["stop", "tool_calls", "length", "content_filter", "interrupted", "error"]),
    startedAt: z.number(),
    firstTokenAt: z.number().optional(),
    endedAt: z.number(),
    cost: count.optional(),
  }),
  approval_request: z.object({
    approvalId: z.string(),
    callId: z.string(),
    name: z.string(),
    args: argsSchema,
    digest: z.string(),
    policyVersion: z.string(),
    reason: z.string().optional(),
    expiresAt: z.number(),
  }),
  approval_resolved: z.object({
    approvalId: z.string(),
    callId: z.string(),
    decision: z.enum(["allow", "deny", "expired", "cancelled"]),
    digest: z.string(),
    args: argsSchema.optional(),
    by: principalSchema,
    reason: z.string().optional(),
  }),
  permission_decision: z.object({
    callId: z.string(),
    decision: z.enum(["allow", "deny"]),
    source: z.enum(["policy", "user", "auto"]),
    ruleId: z.string().optional(),
    reason: z.string().optional(),
    simulated: z.boolean().optional(),
  }),
  input_request: z.object({
    inputId: z.string(),
    callId: z.string(),
    question: z.record(z.string(), z.unknown()),
  }),
  input_resolved: z.object({
    inputId: z.string(),
    callId: z.string(),
    answer: z.object({ text: z.string().optional(), selected: z.array(z.string()).optional() }).optional(),
    cancelled: z.boolean().optional(),
    by: principalSchema,
  }),
  tool_call_start: z.object({ callId: z.string(), name: z.string() }),
  tool_result: z.object({
    callId: z.string(),
    name: z.string(),
    content: z.string(),
    isError: z.boolean(),
    code: z.string().optional(),
    durationMs: milliseconds,
    artifact: artifactSchema.optional(),
    workspaceVersion: count.optional(),
  }),
  tool_recovered: z.object({
    callId: z.string(),
    name: z.string(),
    outcome: z.enum(["found", "reran", "unknown"]),
  }),
  agent_summary: z.object({
    text: z.string(),
    fromSeq: count,
    throughSeq: count,
    before: count,
    after: count,
    kind: z.enum(["auto", "manual", "overflow"]),
    /** Of the call that made it; without one it was made without a model. */
    model: z.string().optional(),
    usage: usageSchema.optional(),
    cost: count.optional(),
    /** Tokens of the window that this model turned out to serve, when the conversation did not fit. */
    served: z.object({ model: z.string(), tokens: count }).optional(),
  }),
  background_completed: z.object({
    taskId: z.string(),
    label: z.string(),
    status: z.enum(["completed", "partial", "failed", "cancelled"]),
    content: z.string(),
  }),
  checkpoint_restore: z.object({
    toSeq: count,
    conversation: z.boolean(),
    files: z.boolean(),
    workspaceVersion: count.optional(),
    skipped: z.array(z.object({ path: z.string(), reason: z.string() })),
    by: principalSchema,
  }),
  error: z.object({
    code: z.string(),
    message: z.string(),
    fatal: z.literal(true),
    details: z.record(z.string(), z.unknown()).optional(),
  }),
  agent_stop: z.object({
    reason: z.enum(["stop", "aborted", "max_steps", "budget", "error"]),
    cause: z.enum(["user", "model", "runtime", "policy"]),
    message: z.string().optional(),
    promptIds: z.array(z.string()),
    usage: usageSchema,
  }),
} as const;

export type DurableType = keyof typeof durablePayloads;

/** The payload of one durable event type. */
export type DurablePayload<T extends DurableType> = z.infer<(typeof durablePayloads)[T]>;

/** What a writer hands over: type and payload with the coordinates, before the log gives it `seq` and `at`. */
export type DurableBody<T extends DurableType = DurableType> = T extends DurableType
  ? { type: T; turn: number; step: number } & DurablePayload<T>
  : never;

/**
 * An event of the log: `seq` counts from 1 without a gap, `at` is in ms since the epoch, `turn` counts the prompts
 * that opened a turn, `step` the model calls in it. `agentId` stands only on events that a sub-agent forwarded.
 */
export type DurableEvent<T extends DurableType = DurableType> = T extends DurableType
  ? { seq: number; at: number; turn: number; step: number; type: T; agentId?: string } & DurablePayload<T>
  : never;
