import type { Frame } from "./oracle.ts";

type Place = readonly [turn: number, step: number, attempt: number];

/** What a person sees of the reply that streams now, put together from the frames of a socket: not the product's fold. */
export class ShownText {
  #place: Place = [0, 0, 0];
  #blocks = new Map<number, string>();

  /** The texts, by block. */
  get blocks(): ReadonlyMap<number, string> {
    return this.#blocks;
  }

  apply(frame: Frame): void {
    switch (frame.type) {
      case "text_delta":
      case "thought_delta":
      case "tool_args_delta": {
        if (!this.#reach([frame.turn, frame.step, frame.attempt])) return;
        const before = this.#blocks.get(frame.block) ?? "";
        this.#blocks.set(frame.block, before.slice(0, frame.offset) + frame.text);
        return;
      }
      case "model_call_start":
        this.#reach([frame.turn, frame.step, frame.attempt]);
        return;
      case "attempt_reset":
        this.#reach([frame.turn, frame.step, frame.attempt + 1]);
        return;
      case "live": {
        const { partial } = frame;
        const [first] = partial;
        if (first) this.#reach([first.turn, first.step, first.attempt]);
        this.#blocks = new Map(partial.map(({ block, text }) => [block, text]));
        return;
      }
      case "events":
        for (const { type, turn, step } of frame.events) {
          if (type === "agent_trace") this.#reach([turn, step + 1, 0]);
          if (type === "agent_stop") this.#reach([turn + 1, 0, 0]);
        }
        return;
      default:
    }
  }

  /** Whether the place is not behind; a later one takes away what was shown at the one before. */
  #reach(place: Place): boolean {
    const index = place.findIndex((value, at) => value !== this.#place[at]);
    if (index < 0) return true;
    if ((place[index] ?? 0) < (this.#place[index] ?? 0)) return false;
    this.#place = place;
    this.#blocks = new Map();
    return true;
  }
}
