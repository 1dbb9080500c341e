import type { DurableEvent, DurableType } from "../../../src/runtime/protocol/durable-events.ts";

/** A single change of a well-formed log after which it must not pass. */
export interface Mutation {
  readonly applies: (log: readonly DurableEvent[], index: number) => boolean;
  readonly mutate: (log: readonly DurableEvent[], index: number) => DurableEvent[];
}

const CALL: readonly DurableType[] = [
  "approval_request",
  "approval_resolved",
  "permission_decision",
  "tool_call_start",
  "input_request",
  "input_resolved",
  "tool_recovered",
  "tool_result",
];
const REPLY: readonly DurableType[] = ["thought", "output", "tool_calls", "agent_trace"];

function own(log: readonly DurableEvent[], index: number): DurableEvent | undefined {
  const event = log[index];
  return event?.agentId === undefined ? event : undefined;
}

const isOf =
  (...types: readonly DurableType[]): Mutation["applies"] =>
  (log, index) => {
    const event = own(log, index);
    return event !== undefined && types.includes(event.type);
  };

/** Writes new numbers, and lets what refers to old ones follow. */
function renumber(log: readonly DurableEvent[]): DurableEvent[] {
  const now = new Map<number, number>();
  log.forEach(({ seq }, index) => now.set(seq, index + 1));
  const moved = (seq: number): number => now.get(seq) ?? seq;
  return log.map((event, index) => {
    const seq = index + 1;
    if (event.type === "checkpoint_restore") return { ...event, seq, toSeq: moved(event.toSeq) };
    if (event.type === "agent_summary") return { ...event, seq, throughSeq: moved(event.throughSeq) };
    return { ...event, seq };
  });
}

const change =
  (
    more: (event: DurableEvent, log: readonly DurableEvent[]) => Record<string, unknown>,
  ): Mutation["mutate"] =>
  (log, index) =>
    log.map((event, at) => (at === index ? ({ ...event, ...more(event, log) } as DurableEvent) : event));

function swap(log: readonly DurableEvent[], index: number): DurableEvent[] {
  return [...log.slice(0, index), ...log.slice(index, index + 2).reverse(), ...log.slice(index + 2)];
}

/** The thoughts and texts that precede an event in its reply. */
function blocksBefore(log: readonly DurableEvent[], index: number): DurableEvent[] {
  const here = log[index];
  return log.filter(
    ({ seq, turn, step, type, agentId }) =>
      agentId === undefined &&
      (type === "thought" || type === "output") &&
      here !== undefined &&
      seq < here.seq &&
      turn === here.turn &&
      step === here.step,
  );
}

const OTHER_REASON = {
  stop: "aborted",
  aborted: "stop",
  error: "stop",
  max_steps: "error",
  budget: "aborted",
} as const;

/** By what they do. Those with "renumbered" leave `seq` in order, so that only the grammar proper can object. */
export const MUTATIONS: Readonly<Record<string, Mutation>> = {
  "an event that is not the last left out": {
    applies: (log, index) => index < log.length - 1,
    mutate: (log, index) => log.toSpliced(index, 1),
  },
  "an event twice": {
    applies: (log, index) => index < log.length,
    mutate: (log, index) => log.toSpliced(index, 0, ...log.slice(index, index + 1)),
  },
  "two neighbours swapped": { applies: (log, index) => index < log.length - 1, mutate: swap },
  "a fact left out, renumbered": {
    applies: isOf(
      "input",
      "steer",
      "tool_calls",
      "agent_trace",
      "interrupt",
      "error",
      ...CALL.filter(
        // Without them a call may be in order still.
        (type) => !["permission_decision", "tool_call_start", "tool_recovered"].includes(type),
      ),
    ),
    mutate: (log, index) => renumber(log.toSpliced(index, 1)),
  },
  "the end of a turn left out before the next, renumbered": {
    applies: (log, index) =>
      isOf("agent_stop")(log, index) && log.some((_event, at) => at > index && isOf("input")(log, at)),
    mutate: (log, index) => renumber(log.toSpliced(index, 1)),
  },
  "a fact twice, renumbered": {
    applies: isOf("input", "steer", "prompt_dropped", "error", "agent_stop", ...REPLY, ...CALL),
    mutate: (log, index) => renumber(log.toSpliced(index, 0, ...log.slice(index, index + 1))),
  },
  "what follows an input before it, renumbered": {
    applies: (log, index) => isOf("input")(log, index) && own(log, index + 1) !== undefined,
    mutate: (log, index) => renumber(swap(log, index)),
  },
  "what ends a turn after its end, renumbered": {
    applies: (log, index) =>
      isOf("agent_stop")(log, index + 1) &&
      own(log, index) !== undefined &&
      !isOf("prompt_dropped")(log, index),
    mutate: (log, index) => renumber(swap(log, index)),
  },
  "another turn": {
    applies: (log, index) => own(log, index) !== undefined,
    mutate: change(({ turn }) => ({ turn: turn + 1 })),
  },
  "another step": {
    applies: isOf("input", "steer", "background_completed", "interrupt", ...REPLY, ...CALL),
    mutate: change(({ step }) => ({ step: step + 1 })),
  },
  "another call id in an event of a call": {
    applies: isOf(...CALL),
    mutate: change(() => ({ callId: "nobody" })),
  },
  "another call id in the calls": {
    applies: isOf("tool_calls"),
    mutate: change((event) =>
      event.type === "tool_calls"
        ? { calls: event.calls.map((call) => ({ ...call, id: `${call.id}x` })) }
        : {},
    ),
  },
  "a call id of an earlier reply": {
    applies: (log, index) =>
      isOf("tool_calls")(log, index) && log.findIndex((_, at) => isOf("tool_calls")(log, at)) < index,
    mutate: change((_, log) => {
      const first = log.find((_event, at) => isOf("tool_calls")(log, at));
      return first?.type === "tool_calls" ? { calls: first.calls } : {};
    }),
  },
  "an answer to another request": {
    applies: isOf("approval_resolved", "input_resolved"),
    mutate: change(() => ({ approvalId: "other", inputId: "other" })),
  },
  "another attempt in one event of a reply": {
    applies: (log, index) => isOf("agent_trace")(log, index) && blocksBefore(log, index).length > 0,
    mutate: change((event) => (event.type === "agent_trace" ? { attempt: event.attempt + 1 } : {})),
  },
  "a block number twice": {
    applies: (log, index) => isOf("thought", "output")(log, index) && blocksBefore(log, index).length > 0,
    mutate: (log, index) => {
      const block = blocksBefore(log, index).findLast((event) => "block" in event);
      return change(() => (block && "block" in block ? { block: block.block } : {}))(log, index);
    },
  },
  "a reply that is whole where its texts are cut, or cut where they are whole": {
    applies: (log, index) => isOf("agent_trace")(log, index) && blocksBefore(log, index).length > 0,
    mutate: change((event) => {
      const cut = event.type === "agent_trace" && ["interrupted", "error"].includes(event.finishReason);
      return { finishReason: cut ? "stop" : "interrupted" };
    }),
  },
  "another reason of the end": {
    applies: isOf("agent_stop"),
    mutate: change((event) => (event.type === "agent_stop" ? { reason: OTHER_REASON[event.reason] } : {})),
  },
  "a prompt that the end forgets": {
    applies: isOf("agent_stop"),
    mutate: change((event) => (event.type === "agent_stop" ? { promptIds: event.promptIds.slice(1) } : {})),
  },
  "a prompt that the end made up": {
    applies: isOf("agent_stop"),
    mutate: change((event) =>
      event.type === "agent_stop" ? { promptIds: [...event.promptIds, "nobody"] } : {},
    ),
  },
  "a restore to what is no end of a turn": {
    applies: isOf("checkpoint_restore"),
    mutate: change((event) => (event.type === "checkpoint_restore" ? { toSeq: event.toSeq + 1 } : {})),
  },
  "a summary of itself": {
    applies: isOf("agent_summary"),
    mutate: change(({ seq }) => ({ throughSeq: seq })),
  },
};
