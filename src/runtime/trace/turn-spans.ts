import type { DurableEvent } from "../protocol/durable-events.ts";
import type { Usage } from "../protocol/usage.ts";

/** A value of an attribute, as OpenTelemetry allows it. */
export type AttributeValue = string | number | boolean | readonly string[];

/**
 * A piece of work in a turn, in the form of an OpenTelemetry span, with the names of its conventions for generative AI
 * (semantic-conventions, gen-ai-spans.md). Never with prompts, arguments or results.
 */
export interface Span {
  /** 16 bytes in hex: one trace per turn. */
  readonly traceId: string;
  /** 8 bytes in hex: the `seq` of the event with which the work began. */
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: "INTERNAL" | "CLIENT";
  /** Nanoseconds since the epoch, in decimal. */
  readonly startTimeUnixNano: string;
  /** Not there while the work goes on. */
  readonly endTimeUnixNano?: string;
  readonly attributes: Readonly<Record<string, AttributeValue>>;
  readonly status: { readonly code: "UNSET" | "OK" | "ERROR" };
}

/** Whose turns they are. */
export interface TracedSession {
  readonly id: string;
  /** A UUID. */
  readonly logId: string;
  readonly agent: string;
  readonly agentVersion: number;
}

type Draft = Omit<Span, "traceId" | "parentSpanId">;

/**
 * The spans of one turn: the turn, and below it its model calls, tool calls and waits for a person, by their beginning.
 * A fold of the log, so the same spans again at any time.
 * @param events of the log; those of other turns, and what sub-agents did, are passed over
 */
export function turnSpans(session: TracedSession, turn: number, events: Iterable<DurableEvent>): Span[] {
  let root: Draft | null = null;
  const open = new Map<string, Draft>();
  const done: Draft[] = [];
  const close = (key: string, at: number, failure: string | null): void => {
    const draft = open.get(key);
    if (draft) done.push(ended(draft, at, failure));
    open.delete(key);
  };
  for (const event of events) {
    if (event.turn !== turn || event.agentId !== undefined) continue;
    switch (event.type) {
      case "input":
        root ??= turnDraft(session, event);
        break;
      case "agent_trace":
        done.push(modelCall(event));
        break;
      case "tool_call_start":
        open.set(`call ${event.callId}`, toolCall(event));
        break;
      case "tool_result":
        close(`call ${event.callId}`, event.at, event.isError ? (event.code ?? "_OTHER") : null);
        break;
      case "approval_request":
        open.set(`approval ${event.approvalId}`, wait(event, "approval", event.callId));
        break;
      case "approval_resolved":
        close(`approval ${event.approvalId}`, event.at, null);
        break;
      case "input_request":
        open.set(`input ${event.inputId}`, wait(event, "input", event.callId));
        break;
      case "input_resolved":
        close(`input ${event.inputId}`, event.at, null);
        break;
      case "agent_stop":
        if (root) root = endedTurn(root, event);
        break;
      default:
        break;
    }
  }
  if (!root) return [];
  const { spanId } = root;
  const traceId = traceIdOf(session, turn);
  const below = [...done, ...open.values()].toSorted((a, b) => compareStarts(a, b));
  return [{ traceId, ...root }, ...below.map((draft) => ({ traceId, parentSpanId: spanId, ...draft }))];
}

/** The log's id with the turn in the place of its last four bytes. */
function traceIdOf({ logId }: TracedSession, turn: number): string {
  return logId.replaceAll("-", "").slice(0, 24).padEnd(24, "0") + turn.toString(16).padStart(8, "0");
}

function compareStarts(a: Draft, b: Draft): number {
  const [first, second] = [BigInt(a.startTimeUnixNano), BigInt(b.startTimeUnixNano)];
  if (first !== second) return first < second ? -1 : 1;
  return a.spanId < b.spanId ? -1 : 1;
}

function started(
  { seq }: DurableEvent,
  at: number,
  name: string,
  kind: Span["kind"],
  attributes: Span["attributes"],
): Draft {
  const spanId = seq.toString(16).padStart(16, "0");
  return { spanId, name, kind, startTimeUnixNano: nanoseconds(at), attributes, status: { code: "UNSET" } };
}

/** @param failure the value of `error.type`, which the conventions require of what failed; null for success */
function ended(draft: Draft, at: number, failure: string | null): Draft {
  // A clock that was set back meanwhile makes no work end before it began.
  const end = BigInt(nanoseconds(at));
  const start = BigInt(draft.startTimeUnixNano);
  return {
    ...draft,
    endTimeUnixNano: String(end < start ? start : end),
    attributes: { ...draft.attributes, ...(failure === null ? {} : { "error.type": failure }) },
    status: { code: failure === null ? "OK" : "ERROR" },
  };
}

/** Times may have fractions; a nanosecond is a millionth of a millisecond. */
function nanoseconds(at: number): string {
  return String(BigInt(Math.round(at)) * 1_000_000n);
}

function turnDraft(session: TracedSession, event: DurableEvent<"input">): Draft {
  const { id, agent, agentVersion } = session;
  return started(event, event.at, `invoke_agent ${agent}`, "INTERNAL", {
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.agent.name": agent,
    "gen_ai.agent.version": String(agentVersion),
    "gen_ai.conversation.id": id,
    "light_agent.turn": event.turn,
  });
}

function endedTurn(root: Draft, { at, reason, cause, usage }: DurableEvent<"agent_stop">): Draft {
  const attributes = {
    ...root.attributes,
    ...usageAttributes(usage),
    "light_agent.stop.reason": reason,
    "light_agent.stop.cause": cause,
  };
  return ended({ ...root, attributes }, at, reason === "error" ? "agent_error" : null);
}

function modelCall(event: DurableEvent<"agent_trace">): Draft {
  const { model, attempt, step, usage, finishReason, startedAt, firstTokenAt, endedAt, cost } = event;
  const [provider = model] = model.split("/");
  const draft = started(event, startedAt, `chat ${model}`, "CLIENT", {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": provider,
    "gen_ai.request.model": model,
    "gen_ai.response.finish_reasons": [finishReason],
    ...usageAttributes(usage),
    ...(firstTokenAt === undefined
      ? {}
      : { "gen_ai.response.time_to_first_chunk": Math.max(0, firstTokenAt - startedAt) / 1_000 }),
    ...(cost === undefined ? {} : { "light_agent.cost": cost }),
    "light_agent.step": step,
    "light_agent.attempt": attempt,
  });
  return ended(draft, endedAt, finishReason === "error" ? "model_error" : null);
}

function toolCall(event: DurableEvent<"tool_call_start">): Draft {
  return started(event, event.at, `execute_tool ${event.name}`, "INTERNAL", {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": event.name,
    "gen_ai.tool.call.id": event.callId,
    "gen_ai.tool.type": "function",
    "light_agent.step": event.step,
  });
}

function wait(event: DurableEvent, what: "approval" | "input", callId: string): Draft {
  return started(event, event.at, `wait_for_${what}`, "INTERNAL", {
    "gen_ai.tool.call.id": callId,
    "light_agent.step": event.step,
  });
}

/** The input's tokens count the cached ones too, as the conventions have it. */
function usageAttributes({ input, output, cachedInput, reasoning }: Usage): Record<string, number> {
  return {
    "gen_ai.usage.input_tokens": input,
    "gen_ai.usage.output_tokens": output,
    "gen_ai.usage.cache_read.input_tokens": cachedInput,
    "gen_ai.usage.reasoning.output_tokens": reasoning,
  };
}
