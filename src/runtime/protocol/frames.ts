import * as z from "zod";
import { contentSchema } from "./content.ts";
import type { DurableEvent } from "./durable-events.ts";
import type { ErrorBody } from "./errors.ts";
import { idSchema } from "./ids.ts";
import { usageSchema } from "./usage.ts";

/** How a prompt enters a session in which a turn runs. */
export const promptModeSchema = z.enum(["queue", "steer", "follow_up", "interrupt", "reject"]);
export type PromptMode = z.infer<typeof promptModeSchema>;

const promptFields = {
  text: z.string().min(1).optional(),
  content: contentSchema.optional(),
  promptId: idSchema.optional(),
  mode: promptModeSchema.optional(),
  model: z.string().min(1).max(200).optional(),
};

const oneOfTextAndContent = (body: { text?: unknown; content?: unknown }): boolean =>
  (body.text === undefined) !== (body.content === undefined);

/** The body of a prompt over REST. `text` is short for one text part. */
export const promptBodySchema = z
  .strictObject(promptFields)
  .refine(oneOfTextAndContent, { message: "a prompt has either text or content" });
export type PromptBody = z.infer<typeof promptBodySchema>;

const interruptFields = {
  turn: z.int().positive().optional(),
  reason: z.string().max(1_000).optional(),
  clearQueue: z.boolean().optional(),
};
export const interruptBodySchema = z.strictObject(interruptFields);
export type InterruptBody = z.infer<typeof interruptBodySchema>;

const decisionFields = {
  decision: z.enum(["allow", "deny"]),
  reason: z.string().max(1_000).optional(),
  args: z.record(z.string(), z.unknown()).optional(),
  remember: z.boolean().optional(),
};
/** The answer to an approval. `args` replaces the call's arguments: exactly these run. */
export const decisionBodySchema = z.strictObject(decisionFields);
export type DecisionBody = z.infer<typeof decisionBodySchema>;

const answerFields = {
  text: z
    .string()
    .max(64 * 1024)
    .optional(),
  selected: z.array(z.string().max(500)).max(20).optional(),
};
/** The answer to a question: a text, chosen options, or both. */
export const answerBodySchema = z
  .strictObject(answerFields)
  .refine((body) => body.text !== undefined || body.selected !== undefined, {
    message: "an answer has text, selected, or both",
  });
export type AnswerBody = z.infer<typeof answerBodySchema>;

const restoreFields = {
  /** 0, or the `seq` of an `agent_stop`. */
  toSeq: z.int().nonnegative(),
  conversation: z.boolean().optional(),
  files: z.boolean().optional(),
};
/** Where a session is to go back to. Without `conversation` and `files` both go back. */
export const restoreBodySchema = z
  .strictObject(restoreFields)
  .refine((body) => body.conversation !== false || body.files !== false, {
    message: "a restore takes back the conversation, the files, or both",
  });
export type RestoreBody = z.infer<typeof restoreBodySchema>;

const compactFields = {
  /** What the summary is to heed. */
  instructions: z
    .string()
    .max(8 * 1024)
    .optional(),
};
/** Asks for a summary of the conversation so far. */
export const compactBodySchema = z.strictObject(compactFields);
export type CompactBody = z.infer<typeof compactBodySchema>;

const requestId = z.string().regex(/^[a-z0-9_]{1,100}$/);

const frameId = z.union([z.string().max(64), z.int()]);

/** Frames that a client sends on the WebSocket; each with an `id` that its ack or nack repeats. */
export const clientFrameSchema = z.discriminatedUnion("type", [
  z.strictObject({ id: frameId, type: z.literal("prompt"), ...promptFields }),
  z.strictObject({ id: frameId, type: z.literal("interrupt"), ...interruptFields }),
  z.strictObject({ id: frameId, type: z.literal("unqueue"), promptId: idSchema }),
  z.strictObject({ id: frameId, type: z.literal("approve"), approvalId: requestId, ...decisionFields }),
  z.strictObject({ id: frameId, type: z.literal("answer"), inputId: requestId, ...answerFields }),
  z.strictObject({ id: frameId, type: z.literal("restore"), ...restoreFields }),
  z.strictObject({ id: frameId, type: z.literal("compact"), ...compactFields }),
  z.strictObject({
    id: frameId,
    type: z.literal("subscribe"),
    types: z.array(z.string()).max(100).optional(),
    verbose: z.boolean().optional(),
  }),
  z.strictObject({ type: z.literal("synced"), n: z.int().nonnegative() }),
]);
export type ClientFrame = z.infer<typeof clientFrameSchema>;

/** What a prompt is answered with: `position` is 0 when its turn runs, else its place among the waiting. */
export const promptReceiptSchema = z.object({
  promptId: z.string(),
  status: z.enum(["running", "queued"]),
  position: z.int().nonnegative(),
  head: z.int().nonnegative(),
});
export type PromptReceipt = z.infer<typeof promptReceiptSchema>;

export const interruptReceiptSchema = z.object({ interrupted: z.boolean(), turn: z.int().nonnegative() });
export type InterruptReceipt = z.infer<typeof interruptReceiptSchema>;

/** The state of a session as REST and the `hello` frame show it. */
export const sessionStateSchema = z.object({
  id: z.string(),
  agent: z.string(),
  agentVersion: z.int().nonnegative(),
  followAgent: z.literal(true).describe("Each turn begins with the agent's newest version.").exactOptional(),
  workspace: z.string(),
  /** The branch of the workspace that a fork works on; others work on the main one. */
  branch: z.string().optional(),
  title: z.string(),
  metadata: z.record(z.string(), z.unknown()),
  status: z.enum(["idle", "running", "waiting"]),
  turn: z.int().nonnegative(),
  step: z.int().nonnegative(),
  head: z.int().nonnegative(),
  oldest: z.int().nonnegative(),
  logId: z.string(),
  queued: z.int().nonnegative(),
  openRequests: z.int().nonnegative(),
  windowTokens: z.int().nonnegative(),
  /** Tokens that the model's context window has room for. */
  contextWindow: z.int().positive(),
  usage: usageSchema,
  createdAt: z.number(),
  updatedAt: z.number(),
});
export type SessionState = z.infer<typeof sessionStateSchema>;

/** An open block of the reply that streams now: all of its text so far. */
export const partialBlockSchema = z.object({
  turn: z.int(),
  step: z.int(),
  attempt: z.int(),
  block: z.int(),
  kind: z.enum(["text", "thought", "tool_args"]),
  text: z.string(),
});
export type PartialBlock = z.infer<typeof partialBlockSchema>;

/** Frames that the server sends besides bare live events. */
export type ServerFrame =
  | { type: "hello"; protocol: 1; state: SessionState }
  | { type: "events"; events: readonly DurableEvent[] }
  | { type: "live"; head: number; partial: readonly PartialBlock[] }
  | { type: "ack"; id: string | number; result: unknown }
  | { type: "nack"; id: string | number | null; error: ErrorBody }
  | { type: "sync"; n: number };
