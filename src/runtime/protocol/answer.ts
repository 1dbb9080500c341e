import { LightAgentError, toErrorBody } from "./errors.ts";
import type { ErrorBody, ErrorCode } from "./errors.ts";

/**
 * What an RPC between objects answers with. Errors are data: an exception that crosses the boundary loses its class
 * and code, and tells the caller its stack.
 */
export type Answer<T> = { ok: true; value: T } | { ok: false; error: ErrorBody };

/** Runs a method body and turns what it throws into the error form. `report` sees unexpected errors only. */
export async function answer<T>(
  body: () => T | Promise<T>,
  report: (caught: unknown) => void,
): Promise<Answer<T>> {
  try {
    return { ok: true, value: await body() };
  } catch (caught) {
    const error = toErrorBody(caught);
    if (error.code === "internal") report(caught);
    return { ok: false, error };
  }
}

/** The value of an answer. @throws LightAgentError what the object answered instead, with the same code */
export function unwrap<T>(answered: Answer<T>): T {
  if (answered.ok) return answered.value;
  const { code, message, details } = answered.error;
  throw new LightAgentError(code, message, details ? { ...details } : undefined);
}

/** As {@link unwrap}, but an error of this code is no error. */
export function unwrapUnless(code: ErrorCode, answered: Answer<unknown>): void {
  if (answered.ok || answered.error.code !== code) unwrap(answered);
}
