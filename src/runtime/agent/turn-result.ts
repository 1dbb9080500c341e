import type { DurableEvent } from "../protocol/durable-events.ts";
import type { LivePayload } from "../protocol/live-events.ts";
import type { SessionLog } from "./session-log.ts";

/** What a turn came to. */
export type TurnResult = LivePayload<"done">;

/** Tells the end of each turn as one result, for consumers that do not fold. */
export function tellResults(log: SessionLog): void {
  let last = { turn: 0, step: 0, text: "", structured: false };
  const observe = (event: DurableEvent): void => {
    const { turn, step } = event;
    if (event.type === "output") {
      const text = last.turn === turn && last.step === step ? last.text + event.text : event.text;
      last = { turn, step, text, structured: event.structured === true };
    }
    if (event.type !== "agent_stop") return;
    const { reason, usage, promptIds } = event;
    const { text, structured } = last.turn === turn ? last : { text: "", structured: false };
    const output = structured && reason === "stop" ? { output: JSON.parse(text) as unknown } : {};
    // After the stop itself has been told to everyone.
    queueMicrotask(() =>
      log.emit({ type: "done", turn, step, reason, result: { text, ...output, usage, promptIds } }),
    );
  };
  log.subscribe(({ events }) => events.forEach(observe));
}
