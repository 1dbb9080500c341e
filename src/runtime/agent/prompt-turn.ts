import type { AgentEvent } from "../protocol/events.ts";

/** Which events belong to the turn that a prompt ends up in. */
export class PromptTurn {
  readonly #promptId: string;
  /** The turn's number, once the prompt has entered one. */
  number: number | null = null;
  ended = false;

  constructor(promptId: string) {
    this.#promptId = promptId;
  }

  includes(event: AgentEvent): boolean {
    const named = event.type === "input" || event.type === "steer" || event.type === "prompt_dropped";
    const mine = named && event.promptId === this.#promptId;
    if (mine && event.type !== "prompt_dropped") this.number = event.turn;
    const inTurn = this.number !== null && event.turn === this.number;
    if ((mine && event.type === "prompt_dropped") || (inTurn && event.type === "done")) this.ended = true;
    return mine || inTurn;
  }
}
