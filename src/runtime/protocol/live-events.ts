import * as z from "zod";
import { toolCallSchema } from "./durable-events.ts";
import { principalSchema } from "./principal.ts";
import { usageSchema } from "./usage.ts";

const count = z.int().nonnegative();
const milliseconds = z.number().nonnegative();
/** `offset` counts UTF-16 units of the block's text so far; blocks count from 0 in an attempt, across kinds. */
const delta = { attempt: count, block: count, offset: count, text: z.string() };

/** The payload of every live event, by type. A live event reaches whoever is connected and is never stored. */
export const livePayloads = {
  turn_start: z.object({}),
  step_start: z.object({}),
  model_call_start: z.object({ model: z.string(), attempt: count }),
  text_delta: z.object(delta),
  thought_delta: z.object(delta),
  tool_args_delta: z.object({ ...delta, callId: z.string(), name: z.string() }),
  attempt_reset: z.object({ attempt: count, reason: z.string() }),
  model_call_end: z.object({
    attempt: count,
    model: z.string(),
    durationMs: milliseconds,
    usage: usageSchema.optional(),
    error: z.object({ code: z.string(), message: z.string() }).optional(),
  }),
  message: z.object({ text: z.string(), thought: z.string().optional(), calls: z.array(toolCallSchema) }),
  tool_use: z.object({ call: toolCallSchema }),
  tool_progress: z.object({
    callId: z.string(),
    message: z.string().optional(),
    completed: z.number().optional(),
    total: z.number().optional(),
    output: z.string().optional(),
  }),
  tool_call_end: z.object({
    callId: z.string(),
    name: z.string(),
    durationMs: milliseconds,
    isError: z.boolean(),
  }),
  compaction: z.object({
    kind: z.enum(["auto", "manual", "overflow"]),
    phase: z.enum(["start", "progress", "done", "error"]),
    before: count,
    after: count,
    stage: z.string().optional(),
    completed: count.optional(),
    total: count.optional(),
    message: z.string().optional(),
  }),
  checkpoint_restore_progress: z.object({
    phase: z.enum(["start", "progress", "done", "error"]),
    completed: count,
    total: count,
    message: z.string().optional(),
  }),
  context_status: z.object({
    level: count,
    reason: z.string(),
    beforeTokens: count,
    afterTokens: count,
    generation: count,
    plannerUsed: z.boolean(),
    plannerFallback: z.boolean(),
    plannerLatencyMs: milliseconds,
    archiveRefs: z.array(z.string()),
    retry: z.boolean(),
  }),
  queue: z.object({
    waiting: z.array(
      z.object({
        promptId: z.string(),
        mode: z.string(),
        preview: z.string(),
        by: principalSchema,
        at: z.number(),
      }),
    ),
  }),
  error: z.object({ code: z.string(), message: z.string(), fatal: z.literal(false) }),
  diagnostic: z.object({
    level: z.enum(["info", "warning", "error"]),
    code: z.string(),
    message: z.string(),
    data: z.record(z.string(), z.unknown()).optional(),
  }),
  custom: z.object({ name: z.string(), data: z.unknown() }),
  step_end: z.object({ stopReason: z.enum(["stop", "tool_use", "max_tokens"]) }),
  done: z.object({
    reason: z.enum(["stop", "aborted", "max_steps", "budget", "error"]),
    /** `output`: the parsed answer of an agent with an output schema. */
    result: z.object({
      text: z.string(),
      output: z.unknown().optional(),
      usage: usageSchema,
      promptIds: z.array(z.string()),
    }),
  }),
} as const;

export type LiveType = keyof typeof livePayloads;

/** The payload of one live event type. */
export type LivePayload<T extends LiveType> = z.infer<(typeof livePayloads)[T]>;

/** Events that are their coordinates alone. */
type Bare = "turn_start" | "step_start";

/** A live event: it has coordinates and no `seq`. */
export type LiveEvent<T extends LiveType = LiveType> = T extends LiveType
  ? { type: T; turn: number; step: number; agentId?: string } & (T extends Bare ? unknown : LivePayload<T>)
  : never;
