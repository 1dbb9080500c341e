import type { Content } from "./content.ts";
import type { PromptMode } from "./frames.ts";
import type { Principal } from "./principal.ts";

/** What the caller of a prompt was answered: place 0 means that its turn began at once. */
export interface Receipt {
  readonly position: number;
  readonly head: number;
}

/** A prompt that has been accepted and has no outcome yet. */
export interface WaitingPrompt {
  readonly promptId: string;
  readonly content: Content;
  readonly by: Principal;
  readonly source: "user" | "system" | "background";
  readonly mode: Exclude<PromptMode, "reject">;
  /** The model that the prompt asks for; the agent's own without it. */
  readonly model?: string;
  /** When it was accepted, in ms since the epoch. */
  readonly at: number;
  /** Digest of what was asked, so that the same id with another body is recognised. */
  readonly digest: string;
  readonly receipt: Receipt;
}

/** Prompts in the order in which they open turns: what interrupted, what missed its turn, what queued. */
const RANK: Readonly<Record<WaitingPrompt["mode"], number>> = {
  interrupt: 0,
  steer: 1,
  follow_up: 1,
  queue: 2,
};

/** The prompt that opens the next turn; each rank in the order of acceptance. */
export function nextPrompt(waiting: readonly WaitingPrompt[]): WaitingPrompt | undefined {
  return inTurnOrder(waiting)[0];
}

/** All waiting prompts in the order in which they would open turns. */
export function inTurnOrder(waiting: readonly WaitingPrompt[]): WaitingPrompt[] {
  return [...waiting].sort((left, right) => RANK[left.mode] - RANK[right.mode]);
}
