import type { DurableEvent } from "../../src/runtime/protocol/durable-events.ts";
import type { World } from "./world.ts";

/** Texts against what the model really said: every block begins with a marker that names the model call. */
export class TextChecks {
  readonly #world: World;
  readonly #planned = new Map<string, string>();

  constructor(world: World) {
    this.#world = world;
  }

  planned(marker: string, text: string): void {
    this.#planned.set(marker, text);
  }

  durable(event: DurableEvent): void {
    if (event.type !== "output" && event.type !== "thought") return;
    const whole = this.#wholeOf(event.text);
    const fits = event.interrupted === true ? whole?.startsWith(event.text) : whole === event.text;
    if (!fits)
      this.#world.violate("text", `${event.type} ${event.seq} is not what the model said: ${event.text}`);
  }

  /** A block that a client sees: what the model has said so far, or less. */
  shown(text: string): void {
    if (text === "" || this.#wholeOf(text)?.startsWith(text)) return;
    this.#world.violate("text", `a client sees what no model said: ${text}`);
  }

  #wholeOf(text: string): string | undefined {
    return this.#planned.get(/^<\d+\.\d+>/.exec(text)?.[0] ?? "");
  }
}
