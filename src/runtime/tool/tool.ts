import type * as z from "zod";
import type { ErrorCode } from "../protocol/errors.ts";

/** Where a running call stands and what it may do. Revoked when the call is settled. */
export interface ToolContext {
  /** Aborts when the turn is stopped or the call's time is over. */
  readonly signal: AbortSignal;
  readonly call: { readonly id: string; readonly name: string; readonly turn: number; readonly step: number };
  /** Tells whoever watches how far the call is. Never blocks, never fails. */
  progress(update: { message?: string; completed?: number; total?: number; output?: string }): void;
  /** Emits a `custom` event. Never blocks, never fails. */
  emit(name: string, data: unknown): void;
}

/** What a tool gives back. `content` is what the model reads. */
export interface ToolResult {
  readonly content: string;
  readonly isError?: boolean;
  readonly code?: ErrorCode;
  /** The version that the call's change of the workspace made. */
  readonly workspaceVersion?: number;
}

/**
 * A tool. The zod object is the only schema: what the model sees, what is validated and what `execute` receives
 * all derive from it. A throwing `execute` becomes an error result, never an exception of the turn.
 */
export interface Tool<Schema extends z.ZodObject = z.ZodObject, Context extends ToolContext = ToolContext> {
  readonly name: string;
  readonly description: string;
  readonly schema: Schema;
  /** Changes nothing anywhere. @default false */
  readonly readOnly?: boolean;
  /** May run again after a crash without doing its effect twice. Read-only tools are. @default readOnly */
  readonly idempotent?: boolean;
  /** Time for one call, in ms, up to the limit `toolMaxMs`. @default the limit `toolMs` */
  readonly timeoutMs?: number;
  /** May run beside other calls of its step. @default true */
  readonly parallel?: boolean;
  /**
   * The call is a question to a person: its arguments are asked, the answer is its result, and `execute` never runs.
   * @default false
   */
  readonly asksPerson?: boolean;
  /**
   * After a crash, for a call that had started: the result of the effect that it had, or null when it had none, so
   * that it may run again. Without it a call that is not idempotent ends as "outcome unknown".
   */
  findOutcome?(context: Context): Promise<ToolResult | null>;
  execute(args: z.infer<Schema>, context: Context): Promise<ToolResult> | ToolResult;
}

/** Gives a literal tool its types: `execute` receives what the schema infers. */
export function defineTool<Schema extends z.ZodObject, Context extends ToolContext = ToolContext>(
  tool: Tool<Schema, Context>,
): Tool<Schema, Context> {
  return tool;
}
