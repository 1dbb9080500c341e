import type { Span } from "../client/index.ts";

/** One line of a turn's waterfall. Times in ms from the turn's beginning. */
export interface TraceRow {
  readonly id: string;
  readonly kind: "turn" | "model" | "tool" | "wait";
  readonly label: string;
  readonly start: number;
  /** Null while it goes on. */
  readonly duration: number | null;
  /** How long the first piece of a reply took; null where there is none. */
  readonly firstPiece: number | null;
  /** Tokens that went in and came out; null where none did. */
  readonly tokens: { readonly input: number; readonly output: number } | null;
  /** In millionths of a US dollar; null when it is not known. */
  readonly cost: number | null;
  readonly failure: string | null;
  readonly details: readonly { readonly name: string; readonly value: string }[];
}

export interface Waterfall {
  readonly rows: readonly TraceRow[];
  /** What the bars are drawn by: how long the turn has taken, in ms, with some room for what goes on. */
  readonly length: number;
}

/** The room for what goes on, beyond the last time that is known, as a share of what is before it. */
const OPEN_SHARE = 0.2;

/** The spans of one turn as lines, the turn itself first. */
export function waterfallOf(spans: readonly Span[]): Waterfall {
  const [root] = spans;
  if (!root) return { rows: [], length: 0 };
  const rows = spans.map((span) => rowOf(span, root));
  const priced = rows.filter(({ cost }) => cost !== null);
  const cost = priced.length === 0 ? null : priced.reduce((sum, row) => sum + (row.cost ?? 0), 0);
  const known = Math.max(...rows.map(({ start, duration }) => start + (duration ?? 0)));
  const goesOn = rows.some(({ duration }) => duration === null);
  const length = goesOn ? known * (1 + OPEN_SHARE) : known;
  return { rows: rows.map((row) => (row.kind === "turn" ? { ...row, cost } : row)), length };
}

function rowOf(span: Span, root: Span): TraceRow {
  const { spanId, startTimeUnixNano, endTimeUnixNano, attributes, status } = span;
  const { kind, label } = namesOf(span);
  const input = numberOf(attributes["gen_ai.usage.input_tokens"]);
  const output = numberOf(attributes["gen_ai.usage.output_tokens"]);
  const first = numberOf(attributes["gen_ai.response.time_to_first_chunk"]);
  return {
    id: spanId,
    kind,
    label,
    start: between(root.startTimeUnixNano, startTimeUnixNano),
    duration: endTimeUnixNano === undefined ? null : between(startTimeUnixNano, endTimeUnixNano),
    firstPiece: first === null ? null : first * 1_000,
    tokens: input === null || output === null ? null : { input, output },
    cost: numberOf(attributes["light_agent.cost"]),
    failure: status.code === "ERROR" ? String(attributes["error.type"] ?? "error") : null,
    details: Object.entries(DETAILS).flatMap(([key, name]) => {
      const value = attributes[key];
      return value === undefined ? [] : [{ name, value: String(value) }];
    }),
  };
}

/** What is told of a line that is unfolded, by the name of its attribute. */
const DETAILS: Readonly<Record<string, string>> = {
  "gen_ai.request.model": "Model",
  "light_agent.step": "Step",
  "light_agent.attempt": "Attempt",
  "gen_ai.response.finish_reasons": "Finished by",
  "gen_ai.usage.cache_read.input_tokens": "Cached input tokens",
  "gen_ai.usage.reasoning.output_tokens": "Reasoning tokens",
  "gen_ai.tool.call.id": "Call",
  "gen_ai.agent.name": "Agent",
  "gen_ai.agent.version": "Version of the agent",
  "light_agent.stop.reason": "Ended by",
  "error.type": "Error",
};

function namesOf({ name, attributes }: Span): Pick<TraceRow, "kind" | "label"> {
  switch (attributes["gen_ai.operation.name"]) {
    case "invoke_agent":
      return { kind: "turn", label: `Turn ${String(attributes["light_agent.turn"])}` };
    case "chat":
      return { kind: "model", label: String(attributes["gen_ai.request.model"]) };
    case "execute_tool":
      return { kind: "tool", label: String(attributes["gen_ai.tool.name"]) };
    default:
      return { kind: "wait", label: name === "wait_for_approval" ? "Approval" : "Answer to a question" };
  }
}

function numberOf(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

/** From one time in nanoseconds to another, in ms. */
function between(start: string, end: string): number {
  return Number(BigInt(end) - BigInt(start)) / 1_000_000;
}
