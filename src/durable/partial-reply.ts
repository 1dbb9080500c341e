import type { PartialBlock } from "../runtime/protocol/frames.ts";
import type { LiveEvent } from "../runtime/protocol/live-events.ts";
import type { Batch } from "../runtime/agent/session-log.ts";

/** The open blocks of the reply that streams now: what a client that joins in mid-stream must be shown. */
export class PartialReply {
  #blocks = new Map<number, PartialBlock>();

  get blocks(): readonly PartialBlock[] {
    return [...this.#blocks.values()];
  }

  follow({ events, live }: Batch): void {
    const own = events.filter(({ agentId }) => agentId === undefined);
    const closed = own.some(({ type }) => type === "agent_trace" || type === "agent_stop");
    if (closed) this.#blocks.clear();
    for (const event of live) if (event.agentId === undefined) this.#followLive(event);
  }

  #followLive(event: LiveEvent): void {
    switch (event.type) {
      case "model_call_start":
      case "attempt_reset":
        return this.#blocks.clear();
      case "text_delta":
        return this.#extend(event, "text");
      case "thought_delta":
        return this.#extend(event, "thought");
      case "tool_args_delta":
        return this.#extend(event, "tool_args");
      default:
        return;
    }
  }

  #extend(
    delta: LiveEvent<"text_delta" | "thought_delta" | "tool_args_delta">,
    kind: PartialBlock["kind"],
  ): void {
    const { turn, step, attempt, block } = delta;
    const text = (this.#blocks.get(block)?.text ?? "") + delta.text;
    this.#blocks.set(block, { turn, step, attempt, block, kind, text });
  }
}
