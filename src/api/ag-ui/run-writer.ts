import type { TurnChange } from "../turn-changes.ts";
import type { TurnWriter } from "../turn-writer.ts";
import { toRunEvents } from "./run-events.ts";
import type { Run } from "./run-events.ts";

/** Writes a turn as the events of a run. */
export function runWriter(begun: Run): TurnWriter {
  let run = begun;
  return {
    write(change: TurnChange) {
      const next = toRunEvents(run, change);
      run = next.run;
      return next.events;
    },
    lost: () => [{ type: "RUN_ERROR", message: "The session has ended.", code: "not_found" }],
    closing: "",
    headers: { "x-accel-buffering": "no" },
  };
}
