import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { PartialReply } from "../../../src/durable/partial-reply.ts";
import type { DurableEvent } from "../../../src/runtime/protocol/durable-events.ts";
import type { PartialBlock } from "../../../src/runtime/protocol/frames.ts";
import type { LiveEvent } from "../../../src/runtime/protocol/live-events.ts";
import { EMPTY_VIEW, applyFrame } from "../../../src/runtime/protocol/session-view.ts";
import { logOf } from "../support/log-builder.ts";

const PLACE = { turn: 1, step: 1 };
let partial: PartialReply;

beforeEach(() => {
  partial = new PartialReply();
});

function tell(...live: LiveEvent[]): void {
  for (const event of live) partial.follow({ events: [], live: [event] });
}

function commit(...events: DurableEvent[]): void {
  partial.follow({ events, live: [] });
}

function begin(attempt: number): LiveEvent {
  return { type: "model_call_start", ...PLACE, model: "m", attempt };
}

function text(block: number, offset: number, added: string, attempt = 1): LiveEvent {
  return { type: "text_delta", ...PLACE, attempt, block, offset, text: added };
}

const [trace] = logOf(["agent_trace", PLACE]);
const [stop] = logOf(["agent_stop", PLACE]);
const [result] = logOf(["tool_result", PLACE]);

function blocks(): Pick<PartialBlock, "block" | "kind" | "text">[] {
  return partial.blocks.map(({ block, kind, text: held }) => ({ block, kind, text: held }));
}

describe("the open blocks of a reply", () => {
  it("[WIRE-34] hold all text of each kind that has been shown", () => {
    const call = { callId: "call_1_1_0", name: "echo" };
    tell(
      begin(1),
      { type: "thought_delta", ...PLACE, attempt: 1, block: 0, offset: 0, text: "hm" },
      { type: "thought_delta", ...PLACE, attempt: 1, block: 0, offset: 2, text: "m" },
      text(1, 0, "so "),
      { type: "tool_args_delta", ...PLACE, attempt: 1, block: 2, offset: 0, text: '{"a', ...call },
      text(1, 3, "it is"),
    );
    expect(blocks()).toEqual([
      { block: 0, kind: "thought", text: "hmm" },
      { block: 1, kind: "text", text: "so it is" },
      { block: 2, kind: "tool_args", text: '{"a' },
    ]);
  });

  it.each([
    ["its attempt is withdrawn", () => tell({ type: "attempt_reset", ...PLACE, attempt: 1, reason: "x" })],
    ["another attempt begins", () => tell(begin(2))],
    ["its reply is in the log", () => trace && commit(trace)],
    ["its turn ends", () => stop && commit(stop)],
  ])("[WIRE-34] are gone when %s", (_, happens) => {
    tell(begin(1), text(0, 0, "old"));
    happens();
    expect(blocks()).toEqual([]);
    tell(text(0, 0, "new", 2));
    expect(partial.blocks).toEqual([{ ...PLACE, attempt: 2, block: 0, kind: "text", text: "new" }]);
  });

  it("[WIRE-34] are not touched by other events, nor by those of other agents", () => {
    tell(begin(1), text(0, 0, "mine"));
    tell({ ...text(0, 0, "theirs"), agentId: "helper" }, { ...begin(1), agentId: "helper" });
    tell({ type: "step_start", ...PLACE }, { type: "custom", ...PLACE, name: "x", data: null });
    if (result && trace) commit(result, { ...trace, agentId: "helper" });
    expect(blocks()).toEqual([{ block: 0, kind: "text", text: "mine" }]);
  });

  it("[WIRE-34] are what a client holds that was there from the beginning", () => {
    const steps = fc.constantFrom<"begin" | "reset" | "text">("begin", "reset", "text", "text", "text");
    const streams = fc.array(fc.tuple(steps, fc.nat({ max: 2 }), fc.string({ maxLength: 5 })), {
      maxLength: 40,
    });
    fc.assert(
      fc.property(streams, (stream) => {
        partial = new PartialReply();
        let view = EMPTY_VIEW;
        let attempt = 1;
        let shown = new Map<number, number>();
        for (const [step, block, added] of [["begin", 0, ""] as const, ...stream]) {
          let event: LiveEvent;
          if (step === "text") {
            const offset = shown.get(block) ?? 0;
            event = text(block, offset, added, attempt);
            shown.set(block, offset + added.length);
          } else {
            event =
              step === "begin"
                ? begin((attempt += 1))
                : { type: "attempt_reset", ...PLACE, attempt, reason: "x" };
            if (step === "reset") attempt += 1;
            shown = new Map();
          }
          partial.follow({ events: [], live: [event] });
          view = applyFrame(view, event);
        }
        const held = (list: readonly PartialBlock[]): unknown =>
          Object.fromEntries(list.flatMap((open) => (open.text === "" ? [] : [[open.block, open.text]])));
        expect(held(partial.blocks)).toEqual(held(view.blocks));
      }),
    );
  });
});
