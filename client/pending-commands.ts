import { LightAgentError } from "../src/runtime/protocol/errors.ts";
import type { ErrorBody } from "../src/runtime/protocol/errors.ts";
import type { ClientFrame } from "../src/runtime/protocol/frames.ts";
import { DEFAULT_LIMITS } from "../src/runtime/protocol/limits.ts";

type Command = Extract<ClientFrame, { type: "prompt" | "interrupt" | "unqueue" | "approve" | "answer" }>;
/** A command before it has the id that its ack or nack repeats. */
export type CommandBody = Command extends infer C ? (C extends Command ? Omit<C, "id"> : never) : never;

interface Pending {
  readonly json: string;
  /** Whether it may reach the server twice: then it outlives the connection on which it was sent. */
  readonly repeatable: boolean;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: LightAgentError) => void;
}

/** Commands that have no answer yet, in the order in which they were given. */
export class PendingCommands {
  readonly #pending = new Map<string, Pending>();
  #count = 0;

  /**
   * Takes a command in. `settled` resolves with the result of its ack and rejects with the error of its nack.
   * @throws LightAgentError `frame_too_large`
   */
  add(body: CommandBody, repeatable: boolean): { readonly json: string; readonly settled: Promise<unknown> } {
    const id = String((this.#count += 1));
    const json = JSON.stringify({ id, ...body });
    if (new TextEncoder().encode(json).length > DEFAULT_LIMITS.frameBytes) {
      throw new LightAgentError("frame_too_large", "This is too large to be sent.");
    }
    const settled = new Promise<unknown>((resolve, reject) => {
      this.#pending.set(id, { json, repeatable, resolve, reject });
    });
    return { json, settled };
  }

  /** The frames to send on a new connection. */
  get frames(): string[] {
    return [...this.#pending.values()].map(({ json }) => json);
  }

  acknowledge(id: string | number, result: unknown): void {
    this.#take(String(id))?.resolve(result);
  }

  /** A nack without an id can only be about the size of a frame, so about the largest one. */
  refuse(id: string | number | null, error: ErrorBody): void {
    const refused = id === null ? this.#largest() : String(id);
    if (refused !== undefined) this.#take(refused)?.reject(toError(error));
  }

  /** The connection is gone: what may not be sent twice has failed, and whether it took effect is not known. */
  cutOff(): void {
    const error = new LightAgentError("unavailable", "The connection was lost before the answer came.");
    for (const [id, { repeatable }] of this.#pending) if (!repeatable) this.#take(id)?.reject(error);
  }

  /** No answer will ever come. */
  fail(error: ErrorBody): void {
    for (const id of this.#pending.keys()) this.#take(id)?.reject(toError(error));
  }

  #take(id: string): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    return pending;
  }

  #largest(): string | undefined {
    const bySize = [...this.#pending].sort(([, left], [, right]) => right.json.length - left.json.length);
    return bySize[0]?.[0];
  }
}

function toError({ code, message, details }: ErrorBody): LightAgentError {
  return new LightAgentError(code, message, details && { ...details });
}
