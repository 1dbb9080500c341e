import * as z from "zod";

/** An id that a caller may choose: it is part of object names and storage keys, so its alphabet is closed. */
export const idSchema = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,64}$/, "an id is 1 to 64 letters, digits, `_` or `-`");

/** Makes ids that nobody has used. Injected, so that tests are repeatable. */
export type NewId = () => string;

/**
 * The id under which a tool call is stored: unique in the session whatever the provider sends, since providers
 * repeat ids within and across turns.
 */
export function callIdOf(turn: number, step: number, index: number): string {
  return `call_${turn}_${step}_${index}`;
}
