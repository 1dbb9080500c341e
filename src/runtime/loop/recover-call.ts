import type { ToolCall } from "../protocol/durable-events.ts";
import type { ToolContext } from "../tool/tool.ts";
import type { ToolRegistry } from "../tool/tool-registry.ts";
import { callDeadline } from "./call-deadline.ts";
import type { CallRunnerOptions, KeptResult } from "./call-runner.ts";

/** What becomes of a call that had begun when its process died; `reran` has no result yet, the call runs again. */
export type Recovery =
  | { readonly outcome: "reran"; readonly result?: undefined }
  | { readonly outcome: "found" | "unknown"; readonly result: KeptResult };

interface Place {
  readonly turn: number;
  readonly step: number;
}

/**
 * Effects happen at most once. The effect is looked up where the tool can: found, it is the result; surely absent, the
 * call may run. Without a look-up only an idempotent tool runs again. `rerun` is false in a turn that ends: there nothing
 * runs again. A look-up that does not end within the time of a call, or the grace of a stopped turn, is unknown.
 */
export async function recoverCall(
  call: ToolCall,
  place: Place & { readonly stop: AbortSignal },
  rerun: boolean,
  options: Pick<CallRunnerOptions, "tools" | "limits" | "timers" | "beforeTools" | "keepResult">,
): Promise<Recovery> {
  const deadline = callDeadline(options.limits.toolMs, place.stop, options);
  const recover = async (): Promise<Recovery> => {
    await options.beforeTools();
    const recovery = await lookUp(call, place, options.tools, rerun);
    if (!recovery.result) return recovery;
    return { ...recovery, result: await options.keepResult(recovery.result, call.id) };
  };
  const passed = deadline.passed.then(() => unknownOutcome(call));
  const recovery = await Promise.race([recover(), passed]);
  deadline.cancel();
  return recovery;
}

async function lookUp(
  call: ToolCall,
  { turn, step }: Place,
  tools: ToolRegistry<ToolContext>,
  rerun: boolean,
): Promise<Recovery> {
  const tool = tools.get(call.name);
  const unknown = unknownOutcome(call);
  if (!tool) return unknown;
  const again: Recovery = rerun ? { outcome: "reran" } : unknown;
  if (!tool.findOutcome) return (tool.idempotent ?? tool.readOnly ?? false) ? again : unknown;
  try {
    // A look-up is not the call: it must work in a turn that was stopped.
    const signal = new AbortController().signal;
    const found = await tool.findOutcome({ id: call.id, name: call.name, turn, step, signal });
    return found ? { outcome: "found", result: found } : again;
  } catch {
    return unknown;
  }
}

function unknownOutcome(call: ToolCall): Recovery {
  const content = `Outcome unknown: the process stopped while ${call.name} ran. It may or may not have taken effect; check before you call it again.`;
  return { outcome: "unknown", result: { content, isError: true, code: "outcome_unknown" } };
}
