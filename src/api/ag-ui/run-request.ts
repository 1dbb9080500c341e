import * as z from "zod";
import { contentSchema } from "../../runtime/protocol/content.ts";
import type { Content } from "../../runtime/protocol/content.ts";
import { answerBodySchema } from "../../runtime/protocol/frames.ts";
import type { AnswerBody, DecisionBody } from "../../runtime/protocol/frames.ts";
import { imagePart } from "../image-part.ts";
import { check } from "../validation.ts";
import type { RunMessage } from "./wire.ts";

const resumeEntry = z.looseObject({
  interruptId: z.string().regex(/^[a-z0-9_]{1,100}$/),
  status: z.enum(["resolved", "cancelled"]),
  payload: z.unknown().optional(),
});
export type ResumeEntry = z.output<typeof resumeEntry>;

const message = z.looseObject({
  id: z.string().min(1).max(1_000),
  role: z.enum(["developer", "system", "assistant", "user", "tool", "activity", "reasoning"]),
  content: z.unknown().optional(),
});

/**
 * AG-UI's `RunAgentInput`. Tools, context and state of the front end are let through, and not heeded: the agent's own
 * are defined on the server.
 */
export const runAgentInput = z.looseObject({
  threadId: z.string().min(1).max(1_000),
  runId: z.string().min(1).max(1_000),
  protocolVersion: z.string().optional(),
  messages: z.array(message),
  resume: z.array(resumeEntry).optional(),
});

/** What a client asks for: a new prompt, that a turn that waited goes on, or to be shown the thread. */
export type RunRequest =
  | { readonly type: "prompt"; readonly messageId: string; readonly content: Content }
  | { readonly type: "resume"; readonly entries: readonly ResumeEntry[] }
  | { readonly type: "connect" };

/** @throws LightAgentError `invalid_request` for content that is neither text nor an image by its address */
export function readRunRequest({ messages, resume = [] }: z.output<typeof runAgentInput>): RunRequest {
  // Of an interrupt that is named twice the last entry counts.
  const entries = [...new Map(resume.map((entry) => [entry.interruptId, entry])).values()];
  if (entries.length > 0) return { type: "resume", entries };
  const last = messages.at(-1);
  if (last?.role !== "user") return { type: "connect" };
  return { type: "prompt", messageId: last.id, content: contentOf(last.content) };
}

/** The messages that a client has, as it sent them. */
export function messagesOf({ messages }: z.output<typeof runAgentInput>): readonly RunMessage[] {
  // They go back to the client that sent them, and nowhere else.
  return messages as unknown as readonly RunMessage[];
}

const urlImage = z.looseObject({
  type: z.literal("image"),
  source: z.looseObject({
    type: z.literal("url"),
    value: z.string(),
    mimeType: z.string().optional(),
  }),
});

function contentOf(content: unknown): Content {
  if (typeof content === "string") return check(contentSchema, [{ type: "text", text: content }], "body");
  const parts = z.array(z.looseObject({ type: z.string() })).safeParse(content);
  const own = (parts.data ?? []).map((part): unknown => {
    if (part.type === "text") return { type: "text", text: part["text"] };
    const { source } = check(urlImage, part, "body");
    return imagePart(source.value, source.mimeType);
  });
  return check(contentSchema, own, "body");
}

const approvalPayload = z.looseObject({
  approved: z.boolean(),
  reason: z.string().max(1_000).optional(),
  editedArgs: z.record(z.string(), z.unknown()).optional(),
});

/** What an entry says of an approval: only a clear yes allows. */
export function decisionOf({ status, payload }: ResumeEntry): DecisionBody {
  if (status === "cancelled") return { decision: "deny" };
  if (typeof payload === "boolean") return { decision: payload ? "allow" : "deny" };
  const { approved, reason, editedArgs } = check(approvalPayload, payload, "body");
  return {
    decision: approved ? "allow" : "deny",
    ...(reason !== undefined && { reason }),
    ...(approved && editedArgs && { args: editedArgs }),
  };
}

/** What an entry says to a question: nothing, when it was cancelled. */
export function answerOf({ status, payload }: ResumeEntry): AnswerBody {
  if (status === "cancelled") return { text: "" };
  return typeof payload === "string" ? { text: payload } : check(answerBodySchema, payload, "body");
}
