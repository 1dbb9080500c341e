import type { Content } from "../protocol/content.ts";
import { textContent } from "../protocol/content.ts";
import { LightAgentError } from "../protocol/errors.ts";
import type { PromptBody, PromptMode } from "../protocol/frames.ts";
import type { Limits } from "../protocol/limits.ts";
import { sha256Hex } from "../protocol/sha256.ts";
import type { RecalledMemory } from "../protocol/recalled-memory.ts";
import type { Principal } from "../protocol/principal.ts";

/** A prompt that has been checked and may be submitted. */
export interface AcceptedPrompt {
  readonly promptId: string;
  readonly content: Content;
  readonly mode: PromptMode;
  readonly model: string | undefined;
  readonly by: Principal;
  readonly source: "user" | "system" | "background";
  readonly digest: string;
  /** What the agent remembers, for a prompt that opens its turn at once. */
  readonly memories?: readonly RecalledMemory[];
}

/**
 * Checks a prompt and gives it its digest: the same id with the same digest is the same prompt.
 * @throws LightAgentError `invalid_request` or `prompt_too_large`
 */
export async function acceptPrompt(
  body: PromptBody,
  by: Principal,
  newId: () => string,
  limits: Limits,
): Promise<AcceptedPrompt> {
  const content = body.content ?? (body.text === undefined ? undefined : textContent(body.text));
  if (!content) throw new LightAgentError("invalid_request", "A prompt has either text or content.");
  if (content.every((part) => part.type === "text" && part.text.trim() === "")) {
    throw new LightAgentError("invalid_request", "A prompt is not empty.");
  }
  const mode = body.mode ?? "queue";
  const asked = JSON.stringify([content, mode, body.model ?? null]);
  const bytes = new TextEncoder().encode(asked);
  if (bytes.length > limits.promptBytes) {
    const details = { bytes: bytes.length, limit: limits.promptBytes };
    throw new LightAgentError("prompt_too_large", `A prompt may have ${limits.promptBytes} bytes.`, details);
  }
  // Half of it tells bodies of one id apart well enough, and every turn keeps it.
  const digest = (await sha256Hex(asked)).slice(0, 32);
  return { promptId: body.promptId ?? newId(), content, mode, model: body.model, by, source: "user", digest };
}
