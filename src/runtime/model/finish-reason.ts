import type { FinishReason } from "./model-provider.ts";

/** What a provider's finish reason means. `unknown` ends the reply, and none of its calls may run. */
export type Ending = FinishReason | "error" | "overflow" | "unknown";

const ENDINGS: ReadonlyMap<string, Ending> = new Map<string, Ending>([
  ...aliases("stop", ["stop", "end_turn", "eos", "eos_token", "stop_sequence", "completed"]),
  ...aliases("tool_calls", ["tool_calls", "tool_use", "function_call"]),
  ...aliases("length", ["length", "max_tokens", "max_output_tokens"]),
  ...aliases("content_filter", ["content_filter", "safety", "sensitive"]),
  ...aliases("error", ["error"]),
  ...aliases("overflow", ["model_context_window_exceeded"]),
]);

function aliases(ending: Ending, names: readonly string[]): [string, Ending][] {
  return names.map((name) => [name, ending]);
}

/** The meaning of a finish reason in any vendor's spelling. */
export function endingOf(finishReason: string): Ending {
  return ENDINGS.get(finishReason.toLowerCase()) ?? "unknown";
}
