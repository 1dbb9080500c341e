import type { ErrorBody } from "../src/runtime/protocol/errors.ts";

/** How a session's connection stands. */
export type ConnectionState =
  /** Not opened yet. */
  | { readonly status: "idle" }
  | { readonly status: "connecting" }
  /** Connected; what was missed is on its way. */
  | { readonly status: "catching_up" }
  | { readonly status: "live" }
  /** Lost; the next try is due so many ms after this state began. */
  | { readonly status: "waiting"; readonly delayMs: number }
  /** Over: closed by its owner (no error), or, for good, refused in a way that trying again does not change. */
  | { readonly status: "ended"; readonly error: ErrorBody | null };
