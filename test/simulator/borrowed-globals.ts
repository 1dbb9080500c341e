import { createHash, webcrypto } from "node:crypto";
import type { Dice } from "./dice.ts";
import type { Scheduler } from "./scheduler.ts";

/**
 * Puts simulated time, timers, chance and hashing in the place of the platform's, for code that has no seam for them,
 * and gives back what undoes it. `error` gets what is written to `console.error`.
 */
export function borrowGlobals(
  dice: Dice,
  scheduler: Scheduler,
  error: (values: unknown[]) => void,
): () => void {
  const timers = new Map<number, () => void>();
  let lastTimer = 0;
  let lastUuid = 0;
  const undo = [
    replace(Date, "now", () => scheduler.now),
    replace(Math, "random", () => dice.next()),
    replace(globalThis, "setTimeout", (run: () => void, ms = 0) => {
      lastTimer += 1;
      timers.set(lastTimer, scheduler.after(ms, "timer", run));
      return lastTimer;
    }),
    replace(globalThis, "clearTimeout", (timer: number) => {
      timers.get(timer)?.();
      timers.delete(timer);
    }),
    replace(webcrypto, "randomUUID", () => {
      lastUuid += 1;
      return `00000000-0000-4000-8000-${String(lastUuid).padStart(12, "0")}`;
    }),
    // Real hashing runs on threads, in an order that no seed decides.
    replace(webcrypto.subtle, "digest", async (_algorithm: string, data: Uint8Array) => {
      await scheduler.pause(dice.between(0, 2), "hash");
      return Uint8Array.from(createHash("sha256").update(data).digest()).buffer;
    }),
    replace(console, "error", (...values: unknown[]) => error(values)),
  ];
  return () => {
    for (const give of undo) give();
  };
}

function replace(holder: object, name: string, value: unknown): () => void {
  const before = Object.getOwnPropertyDescriptor(holder, name);
  Object.defineProperty(holder, name, { value, configurable: true, writable: true });
  return () => {
    if (before) Object.defineProperty(holder, name, before);
    else Reflect.deleteProperty(holder, name);
  };
}
