import * as z from "zod";
import { contentSchema } from "../../runtime/protocol/content.ts";
import type { Content } from "../../runtime/protocol/content.ts";
import { LightAgentError } from "../../runtime/protocol/errors.ts";
import { answerBodySchema } from "../../runtime/protocol/frames.ts";
import type { AnswerBody } from "../../runtime/protocol/frames.ts";
import { imagePart } from "../image-part.ts";
import { check } from "../validation.ts";
import { replyPlaceOf } from "./reply-id.ts";
import type { ReplyPlace } from "./reply-id.ts";
import { uiMessageSchema } from "./ui-message-schema.ts";
import type { UiMessage } from "./ui-message-schema.ts";

/**
 * The body that the AI SDK's `DefaultChatTransport` sends. Fields that an application adds are its own affair: unlike
 * elsewhere they are let through, and not heeded.
 */
export const chatRequestBody = z.looseObject({
  messages: z.array(uiMessageSchema).min(1),
  trigger: z.enum(["submit-message", "regenerate-message"]).default("submit-message"),
  /** The message that is sent, when it is not the last one. */
  messageId: z.string().optional(),
});

/** What a person has said of an approval or a question, as it stands in a tool's part. */
export interface PersonsAnswers {
  readonly approvals: readonly {
    readonly id: string;
    readonly approved: boolean;
    readonly reason?: string;
  }[];
  /** By the call that asks. */
  readonly outputs: readonly { readonly callId: string; readonly output: unknown }[];
}

/** What a client asks for: a new prompt, or that a turn that waited goes on with these answers. */
export type ChatRequest =
  | {
      readonly type: "prompt";
      readonly messageId: string;
      readonly content: Content;
      /** Whether the message stands in the place of one that was sent: always, or when its words are others. */
      readonly again: "always" | "changed" | "never";
    }
  | { readonly type: "answers"; readonly reply: ReplyPlace; readonly answers: PersonsAnswers };

/** @throws LightAgentError `invalid_request` */
export function readChatRequest({
  messages,
  trigger,
  messageId,
}: z.output<typeof chatRequestBody>): ChatRequest {
  const regenerates = trigger === "regenerate-message";
  // In a message that is regenerated `messageId` is the reply, which is no longer among them.
  const named = regenerates ? undefined : messages.find(({ id }) => id === messageId);
  const sent = named ?? messages.at(-1);
  if (sent?.role === "user") {
    const again = regenerates ? "always" : named ? "changed" : "never";
    return { type: "prompt", messageId: sent.id, content: contentOf(sent), again };
  }
  const reply = sent?.role === "assistant" ? replyPlaceOf(sent.id) : null;
  if (!sent || !reply || regenerates)
    throw refusal("The message to send is the user's, or a reply of this session.");
  return { type: "answers", reply, answers: answersOf(sent) };
}

/** A user's texts, and images by their address: inline bytes belong into the workspace. */
function contentOf({ parts }: UiMessage): Content {
  const content = parts.flatMap((each): unknown[] => {
    if (each.type === "text") return [{ type: "text", text: each["text"] }];
    if (each.type === "file") return [imagePart(each["url"], each["mediaType"])];
    return [];
  });
  return check(contentSchema, content, "body");
}

const responded = z.looseObject({
  state: z.literal("approval-responded"),
  approval: z.looseObject({
    id: z.string().regex(/^[a-z0-9_]{1,100}$/),
    approved: z.boolean(),
    reason: z.string().max(1_000).optional(),
  }),
});

const withOutput = z.looseObject({
  state: z.literal("output-available"),
  toolCallId: z.string(),
  output: z.unknown().optional(),
});

/** What was said in the last step: what earlier ones hold has been acted on. */
function answersOf({ parts }: UiMessage): PersonsAnswers {
  const last = parts.slice(parts.findLastIndex(({ type }) => type === "step-start") + 1);
  const approvals = last.flatMap((each) => {
    const parsed = responded.safeParse(each);
    if (!parsed.success) return [];
    const { id, approved, reason } = parsed.data.approval;
    return [{ id, approved, ...(reason !== undefined && { reason }) }];
  });
  const outputs = last.flatMap((each) => {
    const parsed = withOutput.safeParse(each);
    return parsed.success ? [{ callId: parsed.data.toolCallId, output: parsed.data.output }] : [];
  });
  // An approval that is named twice counts once.
  return { approvals: [...new Map(approvals.map((each) => [each.id, each])).values()], outputs };
}

/** The answer to a question: a text, `{ text?, selected? }`, or whatever else as JSON. */
export function questionAnswer(output: unknown): AnswerBody {
  if (typeof output === "string") return { text: output };
  const parsed = answerBodySchema.safeParse(output);
  return parsed.success ? parsed.data : { text: JSON.stringify(output) ?? "" };
}

function refusal(problem: string): LightAgentError {
  return new LightAgentError("invalid_request", problem);
}
